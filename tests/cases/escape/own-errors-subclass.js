// tries: an error whose class changes name, message and stack after it was thrown
// why: the report reads each once, when the run has ended
// end: threw
// error: Mine: changed
class Mine extends Error { get name() { return 'Mine'; } }
const e = new Mine('first');
queueMicrotask(() => { e.message = 'too late?'; e.message = 'changed'; });
await null;
throw e;
