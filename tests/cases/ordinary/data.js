// A hundred megabytes of data, used and let go.
// expect: [100,10000000,300000,50]
const parts = [];
for (let i = 0; i < 100; i++) parts.push(new Uint8Array(1 << 20).fill(i));
let text = '';
for (let i = 0; i < 200; i++) text += 'abcdefghij'.repeat(5000);
const rows = [];
for (let i = 0; i < 300000; i++) rows.push({ i });
const n = parts.length;
parts.length = 50;
return [n, text.length, rows.length, parts.length];
