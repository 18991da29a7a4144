// what: a search through four thousand million holes
// end: cpu_limit
const a = [];
a.length = 2 ** 32 - 1;
a[5] = 1;
for (;;) {
    a.indexOf(2);
    a.lastIndexOf(2);
}
