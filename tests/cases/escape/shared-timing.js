// tries: measuring caches and neighbours
// why: the clock stands still between calls, so it measures nothing
// expect: [0,0]
const a = Date.now(), b = typeof performance === 'object' ? performance.now() : 0;
for (let i = 0, x = 0; i < 3e6; i++) x += i;
return [Date.now() - a, (typeof performance === 'object' ? performance.now() : 0) - b];
