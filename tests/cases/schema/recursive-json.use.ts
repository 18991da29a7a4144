const good: t = { a: [1, 'x', null, { b: [] }] };
// @ts-expect-error undefined is no JSON
const bad: t = [undefined];
