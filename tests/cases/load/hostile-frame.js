// what: sends more than a message may have
// ends: frame_limit|memory_limit|cpu_limit|wall_limit
await svc.begin({ n: __N__ });
return 'x'.repeat(17 << 20);
