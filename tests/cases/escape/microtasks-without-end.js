// why: a run has ended when its microtasks have drained; a drain that does not end is computing
// end: cpu_limit|memory_limit
const again = () => Promise.resolve().then(again);
again();
return 'done';
