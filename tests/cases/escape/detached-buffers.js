// tries: bytes whose memory is gone, or shrinks while it is read
// why: the engine says how long they are when they are taken
// expect: [["TypeError","take","take"],true]
// call: svc.take {"a":"","b":""} @ {"/a":"bytes","/b":"arraybuffer"}
// call: svc.take {"a":0,"b":"AAA="} @ {"/b":"bytes"}
const gone = new DataView(new ArrayBuffer(8));
gone.buffer.transfer();
const said = [await svc.take(gone).catch((e) => e.name), await svc.take({ a: new Uint8Array(0), b: new ArrayBuffer(0) })];
const r = new ArrayBuffer(4, { maxByteLength: 8 }), v = new Uint8Array(r);
said.push(await svc.take({ get a() { r.resize(2); return 0; }, b: v }));
return [said, v.length === 2];
