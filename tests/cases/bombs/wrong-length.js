// what: lengths that no value can have
// end: threw
// why: an invalid length is a RangeError before any memory is asked for
for (const f of [() => new Array(-1), () => new ArrayBuffer(2 ** 53), () => 'x'.repeat(-1), () => new Uint8Array(1e15)]) {
    try { f(); return 'made'; } catch (e) { if (!(e instanceof RangeError)) throw e; }
}
new Array(-1);
