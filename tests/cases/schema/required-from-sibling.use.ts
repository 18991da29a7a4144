const good: t = { a: 'x', b: 'y' };
// @ts-expect-error both are required, each by another list
const bad: t = { a: 'x' };
