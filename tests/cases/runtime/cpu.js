// limits: {"cpuMs": 100}
await t.echo({ n: 1 });
console.log("before");
for (;;);
