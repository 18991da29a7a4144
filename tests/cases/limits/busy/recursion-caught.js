// what: an exhausted stack, again and again
// end: cpu_limit
const f = () => {
    try {
        f();
    } catch {
        f();
    }
};
f();
for (;;);
