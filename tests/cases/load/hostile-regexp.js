// what: a regular expression that does not end in time
// ends: cpu_limit|wall_limit
await svc.begin({ n: __N__ });
return /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60));
