const good: t = { node: { v: 1, next: { next: { v: 2 } } } };
// @ts-expect-error v is a number at every depth
const bad: t = { node: { next: { v: 'x' } } };
