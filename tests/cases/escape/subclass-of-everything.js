// tries: objects of classes that extend what crosses, with members and constructors of their own
// why: what such an object is made of crosses, by its kind; a class of its own is data for a tool
// expect: "take"
// call: svc.take {"m":[[1,2]],"d":5,"e":{"name":"Error","message":"x","extra":1},"a":[1],"b":"AQ==","p":{"q":1}} @ {"/m":"map","/d":"date","/e":"error","/b":"bytes"}
class M extends Map { forEach() { throw new Error('no'); } get size() { return 99; } }
class D extends Date { getTime() { return 99; } toJSON() { return 99; } }
class E extends Error { extra = 1; }
class A extends Array { get length2() { return 9; } }
class B extends Uint8Array { toBase64() { return 'forged'; } }
class P { q = 1; #hidden = 2; get r() { return 3; } }
return await svc.take({ m: new M([[1, 2]]), d: new D(5), e: new E('x'), a: A.of(1), b: B.of(1), p: new P() });
