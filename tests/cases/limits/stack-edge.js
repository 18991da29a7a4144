// what: calls, timers, steps and lines made where the stack ends: each is made or fails, and the run goes on
// limits: {"stackKb": 64}
// 60: completed with "result":[true,true]
let n = 0;
const waits = [], places = [
    () => svc.ok({ n }), () => codemode.search('ok'), () => codemode.step('s' + n, () => 1), () => console.log({ a: [n] }),
    () => clearTimeout(setTimeout(() => {}, 1)), () => new Promise(yes => setTimeout(yes, 1)), () => new Error('x').stack,
];
const f = () => {
    try {
        f();
    } catch {}
    for (let i = 0; n < input && i < places.length; i++) {
        try {
            waits.push(places[i]());
        } catch {}
    }
    n++;
};
f();
const all = await Promise.allSettled(waits);
return [all.length > input, all.every(x => x.status === 'fulfilled' || x.reason instanceof RangeError)];
