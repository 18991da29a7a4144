const good: t[] = [null, {}, { a: 'x' }];
// @ts-expect-error a is a string
const bad: t = { a: 1 };
