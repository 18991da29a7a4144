// why: matching is computing like any other, and the kernel's clock stops it
// end: cpu_limit|threw|completed
return /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60));
