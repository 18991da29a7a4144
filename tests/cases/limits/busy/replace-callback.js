// what: a callback of replace
// end: cpu_limit
return 'x'.replace(/x/, () => {
    for (;;);
});
