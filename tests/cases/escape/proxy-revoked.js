// tries: a proxy that was revoked, as argument, as result and in the log
// why: reading it is a TypeError of the program's; nothing is sent; the log line says so
// end: threw
// error: TypeError: Proxy
// log: log [cannot be shown: Array.isArray cannot be called on a Proxy that has been revoked]
// log: log TypeError
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.log(proxy);
console.log(await svc.take(proxy).catch((e) => e.name));
return proxy;
