// tries: arguments one level under, at and over the depth that crosses
// why: the limit is exact
// expect: ["take","take","TypeError"]
// calls: any
const deep = (n) => { let a = 1; for (let i = 0; i < n; i++) a = [a]; return a; };
const said = [];
for (const n of [499, 500, 501]) said.push(await svc.take(deep(n)).then((v) => v, (e) => e.name));
return said;
