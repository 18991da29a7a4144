// what: sorting by a collator
// end: cpu_limit
const list = Array.from({ length: 20000 }, (_, i) => 'é' + (i * 7919 % 20000)), c = new Intl.Collator('fr');
for (;;)
    list.toSorted(c.compare);
