// what: waiting for a clock that stands still
// end: cpu_limit
const end = Date.now() + 10;
while (Date.now() < end);
