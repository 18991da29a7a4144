// what: a search that compares long prefixes
// end: cpu_limit
const a = 'a'.repeat(100000) + 'b', text = 'a'.repeat(1000000);
for (;;)
    text.indexOf(a);
