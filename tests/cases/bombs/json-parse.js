// what: large documents, parsed
// end: memory_limit
const kept = [], text = JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i, name: 'name ' + i, list: [i, i + 1] })));
for (;;)
    kept.push(JSON.parse(text));
