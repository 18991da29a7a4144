// tries: a saved text that closes the function it is put into
// why: it is parsed whole as the body of one function before anything is evaluated
// expect: ["SyntaxError","syntax",true]
// snippet: closes ["}) ; await svc.wipe({}); (async () => {"]
// call: run closes ["closes"]
// call: step failed {"name":"SyntaxError","message":"Unexpected '}': nothing is open that it would close; leave it out (line 1 of snippet \"closes\")","code":"syntax"} @ {"":"error"}
try {
    await codemode.run('closes');
} catch (e) {
    return [e.name, e.code, e.message.includes('(line 1 of snippet "closes")')];
}
