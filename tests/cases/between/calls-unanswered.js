// leaves: as many calls as may be unanswered at once
for (let i = 0; i < 32; i++)
  svc.hang({ i }).then(() => { globalThis.left = i; });
return 'full';
// ---- next run
// expect: [32,"undefined"]
const all = await Promise.all(Array.from({ length: 32 }, (_, i) => svc.one({ i })));
return [all.filter((v) => v === 'one').length, typeof left];
