// what: a call with too much fails, and the program goes on
// limits: {"argBytes": 100}
// 92: completed with "result":"ok"
// 93: completed with "result":"arguments_limit"
try {
    await svc.ok({ a: 'x'.repeat(input) });
    return 'ok';
} catch (e) {
    return e.code;
}
