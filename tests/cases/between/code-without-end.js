// leaves: thousands of functions that were compiled
globalThis.kept = [];
for (let i = 0; i < 300; i++) {
  const f = new Function('n', `let s = ${i}; for (let k = 0; k < n; k++) s = (s * 31 + k + ${i}) | 0; return s`);
  f(200);
  kept.push(f);
}
return kept.length;
// ---- next run
// expect: [499999500000,"undefined"]
let sum = 0;
for (let i = 0; i < 1000000; i++) sum += i;
return [sum, typeof kept];
