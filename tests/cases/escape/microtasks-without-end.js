// tries: ending with a result and going on in microtasks
// why: a run has ended when its microtasks have drained; a drain that does not end is computing
// end: cpu_limit
let last;
const again = () => { last = undefined; Promise.resolve().then(again); };
again();
return 'done';
