// Every kind of value that a step can give has its type after a replay.
const made = await codemode.step('make', () => ({
    none: undefined, date: new Date(86400000), big: 12345678901234567890n, bytes: new Uint8Array([1, 2, 255]), floats: new Float64Array([0.5, -0]),
    map: new Map([[{ a: 1 }, new Date(7)], ['k', 9n]]), set: new Set(['x', undefined, NaN]), nan: NaN, inf: -Infinity, zero: -0,
    error: new TypeError('broken'), order: { z: 1, a: 2, 10: 3 }, text: '\u0000ü\u{1F600}', deep: [[[new Map([[1n, new Set([new Date(0)])]])]]],
}));
const show = (v) => v === undefined ? 'undefined' : v === null ? 'null' : typeof v === 'bigint' ? v + 'n' : typeof v === 'number' ? (Object.is(v, -0) ? '-0' : String(v))
    : typeof v !== 'object' ? JSON.stringify(v) : v instanceof Date ? `Date ${v.getTime()}` : v instanceof Map ? `Map ${show([...v])}`
    : v instanceof Set ? `Set ${show([...v])}` : v instanceof Error ? `${v.name}: ${v.message}` : ArrayBuffer.isView(v) ? `${v.constructor.name} ${show([...v])}`
    : Array.isArray(v) ? `[${v.map(show)}]` : `{${Object.entries(v).map(([k, x]) => `${k}: ${show(x)}`)}}`;
const text = show(made);
await t.wipe({ text });
const bare = [];
for (const value of [undefined, null, new Date(5), 5n, new Uint8Array([7]), -0, 'x']) bare.push(show(await codemode.step('one', () => value)));
await t.wipe({ bare });
return text.includes('none: undefined,date: Date 86400000,big: 12345678901234567890n,bytes: Uint8Array [1,2,255],floats: Float64Array [0.5,-0]')
    && text.includes('map: Map [[{a: 1},Date 7],["k",9n]],set: Set ["x",undefined,NaN],nan: NaN,inf: -Infinity,zero: -0,error: TypeError: broken')
    && text.includes('deep: [[[Map [[1n,Set [Date 0]]]]]]') && bare.join() === 'undefined,null,Date 5,5n,Uint8Array [7],-0,"x"' ? 'ok' : { text, bare };
