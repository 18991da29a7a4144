// Input, what a program keeps in globals, and the order of keys are the same from the top.
globalThis.kept = (globalThis.kept ?? 0) + 1;
const keys = Object.keys({ b: 1, a: 2, 1: 3 });
await t.wipe({ input, kept, keys, iso: new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(new Date(0)) });
kept++;
await t.wipe({ kept });
return kept === 2 && input.list[1] === 'two' ? 'ok' : { kept, input };
