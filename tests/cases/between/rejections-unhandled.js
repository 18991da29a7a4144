// leaves: rejected promises that nobody handles, with reasons that run code when they are read
for (let i = 0; i < 50; i++) {
  Promise.reject(new Error('left ' + i));
  Promise.reject({ get message() { globalThis.left = 1; Promise.reject(new Error('more')); return 'mine'; }, toString() { return 'mine'; } });
  Promise.reject(new Proxy({}, { get() { throw new Error('hostile'); }, getPrototypeOf() { throw new Error('hostile'); } }));
}
new Promise((yes, no) => setTimeout(() => no(new Error('late')), 1));
svc.hang({}).finally(() => Promise.reject(1));
return 1;
// ---- next run
// expect: ["mine","undefined"]
return [await Promise.reject('mine').catch((e) => e), typeof left];
