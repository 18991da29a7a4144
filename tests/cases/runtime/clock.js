const t0 = Date.now();
for (let i = 0; i < 1e5; i++);
const still = Date.now() === t0;
await t.later({ ms: 20 });
const moved = Date.now() - t0;
await new Promise((resolve) => setTimeout(resolve, 20));
return [still, moved >= 20, Date.now() - t0 >= 40];
