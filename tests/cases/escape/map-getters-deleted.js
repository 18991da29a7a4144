// tries: making the prelude fail where it tells how a run ended
// why: it needs nothing that the program can delete
// end: threw
// error: Error: mine alone
delete Map.prototype.size;
delete Set.prototype.forEach;
delete WeakMap.prototype.get;
globalThis.WeakMap = globalThis.Map = undefined;
throw new Error('mine alone');
