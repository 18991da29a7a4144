// leaves: rejections that come up while the result is read and while the warning about others is made
// end: threw
const reason = { get message() { Promise.reject(reason); Promise.resolve().then(() => Promise.reject(new Error('left'))); return 'left'; } };
throw { get message() { for (let i = 0; i < 100; i++) Promise.reject({ get message() { return svc.late({}), 'left'; } }); Promise.reject(new Error('left')); return 'mine'; } };
// ---- next run
// expect: [1,2]
return Promise.all([1, Promise.resolve(2)]);
