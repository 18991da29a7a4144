// What the engine has and an older Node lacks, so that scripts of js/ can be imported. Import it before them.
import { types } from 'node:util';

const missing = [
  [String.prototype, 'toWellFormed', function () {
    return this.replace(/\p{Cs}/gu, '\ufffd');
  }],
  [Uint8Array.prototype, 'toBase64', function () {
    return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64');
  }],
  [Uint8Array, 'fromBase64', (text) => new Uint8Array(Buffer.from(text, 'base64'))],
  [Error, 'isError', types.isNativeError],
];
for (const [object, name, value] of missing)
  if (!(name in object)) Object.defineProperty(object, name, { value, writable: true, configurable: true });
