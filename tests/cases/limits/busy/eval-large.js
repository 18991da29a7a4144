// what: parsing a large text again and again
// end: cpu_limit|memory_limit
const text = 'x;'.repeat(100000);
let x;
for (;;)
    (0, eval)('var x;' + text);
