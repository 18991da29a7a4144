const good: t = ['x', null, 1, true];
// @ts-expect-error the rest are numbers and booleans
const bad: t = ['x', 1, 'y'];
