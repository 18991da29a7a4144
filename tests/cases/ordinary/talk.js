// Much said to the host and back: large arguments, a large result, many lines of console output, many calls, a step that is
// handed back what it recorded.
// expect: [20,"many",3000000,2000000]
const some = await Promise.all(Array.from({ length: 20 }, (_, i) => svc.many({ i })));
await svc.large({ text: 'x'.repeat(2e6), bytes: new Uint8Array(1e5) });
for (let i = 0; i < 500; i++) console.log('line', i, { i });
let kept = '';
for (const n of [2e5, 4e5, 8e5, 16e5, 3e6]) kept = await codemode.step('large', () => 'z'.repeat(n));
return [some.length, some[0], kept.length, 'y'.repeat(2e6).length];
