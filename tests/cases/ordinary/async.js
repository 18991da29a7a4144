// Generators, async generators, thousands of promises, timers, rejections.
// expect: [5000050000,500500,2000,1,"late"]
function* count(n) { for (let i = 1; i <= n; i++) yield i; }
async function* later(n) { for (let i = 1; i <= n; i++) { await null; yield i; } }
let a = 0, b = 0, c = 0;
for (const x of count(100000)) a += x;
for await (const x of later(1000)) b += x;
await Promise.all(Array.from({ length: 2000 }, async (_, i) => { await i; c++; }));
const errors = await Promise.any([Promise.reject(new Error('a'))]).catch((e) => e.errors.length);
return [a, b, c, errors, await new Promise((r) => setTimeout(r, 1, 'late'))];
