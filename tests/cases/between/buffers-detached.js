// leaves: buffers that were detached and resized while they were looked at
const kept = [];
for (let i = 0; i < 50; i++) {
  const b = new ArrayBuffer(1024), view = new Uint8Array(b);
  view.fill(7);
  if (b.transfer) kept.push(b.transfer(), view);
  const r = new ArrayBuffer(16, { maxByteLength: 4096 }), of = new Uint8Array(r);
  r.resize(4096);
  of.fill(7);
  r.resize(0);
  kept.push(r, of);
}
globalThis.kept = kept;
return kept.length > 0;
// ---- next run
// expect: [1024,0,0,4096,"undefined"]
const b = new ArrayBuffer(1024), r = new ArrayBuffer(0, { maxByteLength: 4096 });
const sum = (v) => v.reduce((x, y) => x + y, 0);
const first = sum(new Uint8Array(b));
r.resize(4096);
return [b.byteLength, first, sum(new Uint8Array(r)), r.byteLength, typeof kept];
