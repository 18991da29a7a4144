// tries: structuredClone of what is nested deeper than the stack
// why: it ends as recursion does, with an error that can be caught, and what comes next works
// expect: ["RangeError","c"]
// call: svc.get {}
const top = {};
let a = top;
for (let i = 0; i < 3e4; i++) a = a.x = {};
let said = '';
try { structuredClone(top); } catch (e) { said = e.name; }
await svc.get({});
return [said, structuredClone({ c: 'c' }).c];
