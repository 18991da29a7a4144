// tries: import(), where the checker does not see it
// why: there is no module loader behind it: it rejects
// expect: ["rejected","rejected","rejected"]
const seen = [];
for (const name of ['fs', 'file:///etc/passwd', 'data:text/javascript,export default 1'])
  seen.push(await Function('name', 'return import' + '(name)')(name).then(() => 'loaded', () => 'rejected'));
return seen;
