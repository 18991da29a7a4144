// what: JSON of deep nesting
// end: cpu_limit|memory_limit
const text = '['.repeat(5000000) + ']'.repeat(5000000);
for (;;) {
    try {
        JSON.parse(text);
    } catch {}
}
