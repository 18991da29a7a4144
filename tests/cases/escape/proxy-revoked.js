// tries: a proxy that was revoked, as argument, as result and in the log
// why: reading it is a TypeError of the program's; nothing is sent; the log line says so
// end: threw
// error: TypeError: Proxy has already been revoked. No more operations are allowed to be performed on it
// log: log <Revoked Proxy>
// log: log TypeError
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.log(proxy);
console.log(await svc.take(proxy).catch((e) => e.name));
return proxy;
