// what: searches, timers and steps are no calls
// limits: {"subrequests": 1}
// 1: completed
await svc.ok({});
await codemode.search('ok');
await new Promise(yes => setTimeout(yes, 0));
await codemode.step('s', () => 1);
