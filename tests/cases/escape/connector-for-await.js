// tries: drawing values from a connector by for await
// why: it has no iterator of either kind, and nothing is called
// expect: "TypeError"
try { for await (const x of svc) return x; } catch (e) { return e.name; }
