// what: waits for what does not come
// ends: never_settles
await svc.begin({ n: __N__ });
await new Promise(() => {});
