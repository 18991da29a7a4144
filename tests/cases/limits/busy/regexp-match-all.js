// what: matchAll with a pattern that backtracks
// end: cpu_limit
for (;;)
    [...'a'.repeat(50).matchAll(/(a|aa)+$b/g)];
