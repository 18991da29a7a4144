// what: back references
// end: cpu_limit
for (;;)
    /^(a+)\1+$/.test('a'.repeat(60) + 'b');
