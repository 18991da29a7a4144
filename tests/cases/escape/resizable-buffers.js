// tries: a buffer that a getter or toJSON shrinks or grows while its views are being written
// why: each is written as it is when it is reached, and its length is asked of the engine at that moment
// expect: [4,0,2,32,"ok"]
// call: step shrunk
// call: step ended {"a":"BwcHBw==","b":1,"c":""} @ {"/a":"bytes","/c":"bytes"}
// call: step grown
// call: step ended ["AAAAAA==",1,"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="] @ {"/0":"uint16","/2":"uint16"}
const one = new ArrayBuffer(4, { maxByteLength: 1 << 20 }), a = new Uint8Array(one).fill(7);
const shrunk = await codemode.step('shrunk', () => ({ a, get b() { one.resize(0); return 1; }, c: a }));
const two = new ArrayBuffer(4, { maxByteLength: 64 }), u = new Uint16Array(two);
const grown = await codemode.step('grown', () => [u, { toJSON() { two.resize(64); return 1; } }, u]);
return [shrunk.a.length, shrunk.c.length, grown[0].length, grown[2].length, 'ok'];
