// tries: the same in a log line, and in the first use of what formats it
// why: a line is sent whole or not at all, and the next one is as ever
// expect: true
// logs: any
let n = 0;
function dive() { try { dive(); } catch { if (n < 50) { n++; try { console.log({ a: [new Map([[1, 2]])] }, new Error('x'), /x/); } catch { n++; } } throw new Error('up'); } }
try { dive(); } catch {}
console.log('after');
return n > 0;
