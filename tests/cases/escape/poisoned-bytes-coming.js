// tries: receiving the prelude's own work by what makes bytes of an answer
// why: Uint8Array.fromBase64 and the class were taken before
// expect: [3,"Uint8Array",0]
// call: svc.bytes
// answer: bytes "AQID" @ {"":"bytes"}
let n = 0;
const Kind = Uint8Array;
Uint8Array.fromBase64 = () => { n++; return 'forged'; };
globalThis.Uint8Array = class { constructor() { n++; } };
const b = await svc.bytes();
return [b.length, b.constructor === Kind ? 'Uint8Array' : 'other', n];
