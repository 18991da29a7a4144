// what: a stack that is made by the program
// end: cpu_limit
Error.prepareStackTrace = () => {
    for (;;);
};
new Error('x').stack;
for (;;);
