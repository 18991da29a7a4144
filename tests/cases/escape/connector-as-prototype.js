// tries: objects that inherit from a connector, and a proxy around one
// why: they are the program's; reading through them gives the same frozen functions
// expect: ["first","first",{}]
// call: svc.first
// call: svc.first
return [await Object.create(svc).first(), await new Proxy(svc, {}).first(), { ...svc }];
