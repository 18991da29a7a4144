// what: what calls answer, kept with what was made of it
// end: memory_limit
const kept = [];
for (;;) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => svc['m' + i]({})));
    for (const a of answers)
        kept.push(a.repeat(20000).split('m'));
}
