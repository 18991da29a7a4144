const good: t = { a: 'x', c: 1 };
// @ts-expect-error c belongs to every form
const bad: t = { a: 'x' };
