// tries: revoking the proxy while it is read
// why: as before: the call is not sent
// expect: ["TypeError"]
const { proxy, revoke } = Proxy.revocable({ a: 1, b: 2 }, { get(t, k) { if (k === 'a') revoke(); return t[k]; } });
return [await svc.take(proxy).catch((e) => e.name)];
