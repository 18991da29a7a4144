// tries: a rejection that makes the next one
// why: a drain that does not end is computing
// end: cpu_limit
const again = () => { const e = {}; Object.defineProperty(e, 'message', { get() { again(); return 'm'; } }); Promise.reject(e); };
again();
return 1;
