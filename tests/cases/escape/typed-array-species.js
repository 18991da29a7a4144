// tries: the same with bytes and buffers, by species and by slice
// why: bytes are taken by a view of the prelude's over the same buffer
// expect: ["first",0]
// call: svc.first {"a":"AQI=","b":"AwQ="} @ {"/a":"bytes","/b":"arraybuffer"}
let n = 0;
const part = new Uint8Array([0, 1, 2]).subarray(1);
const typed = Object.getPrototypeOf(Uint8Array);
Object.defineProperty(typed, Symbol.species, { get() { n++; return Array; } });
Object.defineProperty(ArrayBuffer, Symbol.species, { get() { n++; return Array; } });
typed.prototype.slice = ArrayBuffer.prototype.slice = () => { n++; };
return [await svc.first({ a: part, b: new Uint8Array([3, 4]).buffer }), n];
