// leaves: libraries of the engine that were out of memory when they were first asked, after which the memory is given back
// end: completed|memory_limit|crashed
const failed = [];
let kept = [];
for (let size = 1 << 26; size >= 16384; size >>= 1) {
  try { for (;;) kept.push(new ArrayBuffer(0, { maxByteLength: size })); } catch { /* there is no room for one of this size */ }
}
for (const l of ['en-US', 'de-DE', 'ja-JP', 'fr-FR']) {
  for (const make of [() => new Intl.DateTimeFormat(l, { dateStyle: 'full' }).format(0), () => new Intl.NumberFormat(l).format(1234.5), () => new Intl.Collator(l).compare('a', 'b'),
    () => new Intl.DisplayNames(l, { type: 'region' }).of('US'), () => new Intl.ListFormat(l).format(['a', 'b']), () => new Intl.RelativeTimeFormat(l).format(1, 'day')]) {
    try { make(); } catch (e) { failed.push(String(e)); }
  }
}
kept = null;
for (let i = 0; i < 300000; i++) kept = { i, rest: [i] };
return failed;
// ---- next run
// expect: ["Thursday, January 1, 1970","Donnerstag, 1. Januar 1970","1.234,5",-1,"USA","a et b"]
return [new Intl.DateTimeFormat('en-US', { dateStyle: 'full' }).format(0), new Intl.DateTimeFormat('de-DE', { dateStyle: 'full' }).format(0), new Intl.NumberFormat('de-DE').format(1234.5),
  new Intl.Collator('de-DE').compare('a', 'b'), new Intl.DisplayNames('de-DE', { type: 'region' }).of('US').replace('Vereinigte Staaten', 'USA'), new Intl.ListFormat('fr-FR').format(['a', 'b'])];
