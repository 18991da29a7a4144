// tries: passing for a refusal by policy
// why: the record has no such call; the error is the program's
// end: threw
// error: PolicyError: svc.drop is denied by policy
// code: denied
throw Object.assign(new Error('svc.drop is denied by policy'), { name: 'PolicyError', code: 'denied', line: 999, column: 999 });
