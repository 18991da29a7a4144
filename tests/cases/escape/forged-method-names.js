// tries: names of methods that lead elsewhere: dots, paths, NULs, another connector
// why: a name is one text beside the connector's; the host looks it up among its own
// expect: [true,true,true,true]
// call: svc.codemode.search {}
// call: svc.../admin/drop {}
// call: svc.x.y {}
// call: svc.step {}
const ok = async (p) => typeof (await p) === 'string';
return [await ok(svc['codemode.search']({})), await ok(svc['../admin/drop']({})), await ok(svc['x.y']({})), await ok(svc.step({}))];
