// tries: a cleared timer that fires all the same, and a handle of another kind
// why: a timer that was cleared is forgotten before its answer comes
// expect: [["b"],"undefined"]
// call: timer 1
// call: timer 1
const fired = [];
const a = setTimeout(() => fired.push('a'), 1);
clearTimeout(String(a));
clearInterval({});
clearTimeout(NaN);
await new Promise((yes) => setTimeout(() => { fired.push('b'); yes(); }, 1));
return [fired, typeof clearTimeout(99)];
