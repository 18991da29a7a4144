// what: microtasks without end
// end: cpu_limit
const again = () => Promise.resolve().then(again);
await again();
