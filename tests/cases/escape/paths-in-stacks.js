// why: stacks name the program and nothing of the machine
// expect: [false,false]
const stacks = [new Error('x').stack];
try { null.x; } catch (e) { stacks.push(e.stack); }
return stacks.map((s) => /(\/|file:|codemode-worker|\.c\b)/.test(String(s)));
