// what: a thenable that resolves with another, without end
// end: cpu_limit
const t = () => ({ then: yes => yes(t()) });
await t();
