// tries: giving another program text under the SDK's names
// why: a shadow is the program's own variable; the host's object is as it was
// expect: ["mine","first","first"]
// call: svc.first
// call: svc.first
// warning: line 8: codemode is declared here and hides the global codemode in its scope; choose another name to
// warning: line 8: svc is declared here and hides the connector svc in its scope; choose another name to call i
const real = await (async () => { const codemode = { search: () => 'mine' }; const svc = globalThis.svc; return [codemode.search(), await svc.first()]; })();
return [...real, await globalThis.svc.first()];
