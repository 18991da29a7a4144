// what: JSON of a wide document
// end: cpu_limit|memory_limit
const text = JSON.stringify(Array.from({ length: 100000 }, (_, i) => ({ i })));
for (;;)
    JSON.parse(text, (k, v) => v);
