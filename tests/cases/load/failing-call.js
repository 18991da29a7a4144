// what: a call that fails, and is caught
// result: {"n":__N__,"code":"teapot","status":418,"message":"no coffee for __N__"}
await svc.begin({ n: __N__ });
try {
    await svc.fail({ n: __N__ });
} catch (e) {
    return { n: __N__, code: e.code, status: e.status, message: e.message };
}
return 'it did not fail';
