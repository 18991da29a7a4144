const good: t[] = [['x'], ['x', 'b']];
// @ts-expect-error nothing may follow
const bad: t = ['x', 'a', 'b'];
