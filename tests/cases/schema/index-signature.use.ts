const good: t = { m: true, n: 'x', other: 1 };
// @ts-expect-error m is required
const bad: t = { n: 'x' };
