// Typed arrays of every kind, buffers that grow, views, big integers.
// expect: [200000,1048576,1048576,955,4194304]
const f = new Float64Array(2e5).map((_, i) => Math.sqrt(i)).sort();
const view = new DataView(f.buffer);
for (let i = 0; i < 1000; i++) view.setFloat32(i * 8, i, true);
const grown = new ArrayBuffer(1024, { maxByteLength: 1 << 20 });
grown.resize(1 << 20);
let p = 1n;
for (let i = 0; i < 2000; i++) p *= 3n;
for (const T of [Int8Array, Uint16Array, Int32Array, Float32Array, BigInt64Array]) new T(1e5).fill(T === BigInt64Array ? 5n : 5);
const n = f.length;
return [n, grown.byteLength, f.buffer.slice(0, 1 << 20).byteLength, String(p).length, f.buffer.transfer(1 << 22).byteLength];
