// what: microtasks that go on when the program has returned
// end: cpu_limit
const again = () => queueMicrotask(again);
again();
return 'done';
