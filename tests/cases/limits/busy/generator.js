// what: a generator without end
// end: cpu_limit
function* g() {
    for (let i = 0; ; i++)
        yield i;
}
for (const x of g());
