// tries: to keep the web interfaces from being made, or to be what makes them, by freezing the global object first
// why: a name that is not made yet is a getter, which gives the same class each time without writing to the global object
// expect: ["https://a.example/","get",true,"b"]
// call: svc.get {}
Object.freeze(globalThis);
return [new URL('https://a.example').href, await svc.get({}), URL === URL, new Headers({ a: 'b' }).get('a')];
