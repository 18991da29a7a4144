const good: t = ['x', null];
// @ts-expect-error null is no array
const bad: t = null;
