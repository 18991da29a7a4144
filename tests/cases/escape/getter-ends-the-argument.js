// tries: changing the argument while it is read: members deleted, an array shortened, a map grown
// why: what has been read stands; what is gone reads as undefined; members added are not seen
// expect: "take"
// call: svc.take {"a":1,"b":null,"l":[0,null,null],"m":[[1,2]]} @ {"/b":"undefined","/l/1":"undefined","/l/2":"undefined","/m":"map"}
const m = new Map([[1, 2]]), l = [0, 1, 2];
Object.defineProperty(l, 0, { get() { l.length = 1; return 0; } });
const o = { get a() { delete o.b; o.c = 3; return 1; }, b: 2, l, m };
return await svc.take(o);
