// what: calls itself without end
// ends: stack_limit
await svc.begin({ n: __N__ });
const f = () => f() + 1;
return f();
