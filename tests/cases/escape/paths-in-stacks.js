// tries: learning where it runs from the stacks of errors
// why: stacks name the program and nothing of the machine
// expect: [false,false,false,false]
const stacks = [new Error('x').stack];
try { null.x; } catch (e) { stacks.push(e.stack); }
await svc.take(() => 1).catch((e) => stacks.push(e.stack));
await codemode.step(1).catch((e) => stacks.push(e.stack));
return stacks.map((s) => /(\/work|\/home|\/usr|\/tmp|file:|codemode-worker|\.c\b|\.cpp\b)/.test(String(s)));
