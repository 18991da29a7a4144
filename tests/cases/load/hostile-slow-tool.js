// what: waits for a tool that does not answer
// ends: timeout
await svc.begin({ n: __N__ });
await svc.never({ n: __N__ });
