// tries: giving another program text under the SDK's names
// why: a shadow is the program's own variable; the host's object is as it was
// expect: ["mine","first","first"]
// call: svc.first
// call: svc.first
const real = await (async () => { const codemode = { search: () => 'mine' }; const svc = globalThis.svc; return [codemode.search(), await svc.first()]; })();
return [...real, await globalThis.svc.first()];
