// what: try and catch around everything, in a function that calls itself again
// end: cpu_limit
const run = () => {
    for (;;) {
        try {
            run();
        } catch {}
    }
};
run();
