// leaves: nothing but the list of its connectors
return typeof fresh;
// ---- next run
// connector: fresh
// expect: ["two","one","undefined"]
return [await fresh.two({}), await svc.one({}), typeof old];
