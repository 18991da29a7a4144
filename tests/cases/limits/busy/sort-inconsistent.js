// what: a comparator that contradicts itself, over and over
// end: cpu_limit
const a = Array.from({ length: 1000 }, (_, i) => i);
for (;;)
    a.sort(() => Math.random() - 0.5);
