// tries: names of methods with NULs and halves of surrogate pairs, that differ for the program and not for the host
// why: a name is what arrives; the half of a pair arrives as the sign for it
// expect: [true,true]
// call: svc.�x {}
// call: svc.drop� {}
const a = svc['\ud800x'], b = svc['drop\udc00'];
return [typeof await a({}) === 'string', typeof await b({}) === 'string'];
