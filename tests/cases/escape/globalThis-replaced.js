// tries: another globalThis for whoever asks for it
// why: the name is the program's to change; nothing of ours asks for it
// expect: ["first","object"]
// call: svc.first
globalThis.globalThis = { svc: { first: () => 'mine' } };
return [await svc.first(), typeof svc];
