// tries: changing the bytes that cross, by the getters and methods of typed arrays, buffers and views
// why: the prelude took them before the program began
// expect: ["first",0]
// call: svc.first {"a":"AQI=","b":"AwQ=","c":"BQ==","d":"BgAHAA=="} @ {"/a":"bytes","/b":"arraybuffer","/c":"dataview","/d":"uint16"}
let n = 0;
const typed = Object.getPrototypeOf(Uint8Array.prototype), lie = { configurable: true, get() { n++; return 0; } };
const value = { a: new Uint8Array([1, 2]), b: new Uint8Array([3, 4]).buffer, c: new DataView(new Uint8Array([5]).buffer), d: new Uint16Array([6, 7]) };
for (const k of ['buffer', 'byteOffset', 'byteLength', 'length', Symbol.toStringTag]) Object.defineProperty(typed, k, lie);
for (const k of ['buffer', 'byteOffset', 'byteLength']) Object.defineProperty(DataView.prototype, k, lie);
Object.defineProperty(ArrayBuffer.prototype, 'byteLength', lie);
Uint8Array.prototype.toBase64 = () => { n++; return 'AAAA'; };
ArrayBuffer.isView = () => { n++; return false; };
globalThis.Uint8Array = globalThis.ArrayBuffer = globalThis.DataView = undefined;
return [await svc.first(value), n];
