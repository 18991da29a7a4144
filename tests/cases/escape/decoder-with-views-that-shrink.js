// tries: bytes whose buffer shrinks while a TextDecoder reads its options
// why: what is decoded is looked at after the options, and the engine knows how long it is then
// expect: ["utf-8",0,16]
const buffer = new ArrayBuffer(16, { maxByteLength: 16 }), u = new Uint8Array(buffer);
const d = new TextDecoder({ toString() { buffer.resize(0); return 'utf-8'; } }), none = d.decode(u, { get stream() { return false; } }).length;
buffer.resize(0);
return [d.encoding, none, d.decode(u, { get stream() { buffer.resize(16); return false; } }).length];
