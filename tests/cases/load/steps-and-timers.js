// what: steps, and timers that fire in their order
// result: {"n":__N__,"order":["c","b","a"],"step":__N__}
await svc.begin({ n: __N__ });
const order = [];
const wait = (name, ms) => new Promise((fired) => setTimeout(fired, ms)).then(() => order.push(name));
await Promise.all([wait('a', 9), wait('b', 5), wait('c', 1)]);
return { n: __N__, order, step: await codemode.step('own', () => __N__) };
