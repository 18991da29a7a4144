// what: a comparator that does not come back
// end: cpu_limit
return [3, 2, 1].sort(() => {
    for (;;);
});
