// tries: computing in native code that asks no interrupt
// why: matching is computing like any other, and the kernel's clock stops it
// end: cpu_limit
const re = /^(a|a|aa)+$/;
for (let n = 30; ; n++) re.test('a'.repeat(n) + 'b');
