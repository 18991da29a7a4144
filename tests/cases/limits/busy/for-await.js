// what: for await over what never ends
// end: cpu_limit
async function* g() {
    for (;;)
        yield 1;
}
for await (const x of g());
