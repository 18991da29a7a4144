// leaves: other methods and lengths of typed arrays, buffers and views
const typed = Object.getPrototypeOf(Uint8Array.prototype);
for (const key of Reflect.ownKeys(typed)) {
  const d = Object.getOwnPropertyDescriptor(typed, key);
  if (key !== 'constructor')
    Object.defineProperty(typed, key, d.get ? { get: () => 'mine' } : { value: () => 'mine' });
}
ArrayBuffer.prototype.slice = DataView.prototype.getInt8 = () => 'mine';
ArrayBuffer.isView = () => true;
Object.defineProperty(ArrayBuffer, Symbol.species, { value: Array });
return new Uint8Array(2).length;
// ---- next run
// expect: [2,"1,2",[2,4],1,false,1]
const a = new Uint8Array([1, 2]);
return [a.length, a.join(), [...a.map((x) => x * 2)], new Uint8Array(a.buffer.slice(0, 1)).length, ArrayBuffer.isView({}), new DataView(a.buffer).getInt8(0)];
