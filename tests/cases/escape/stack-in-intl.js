// tries: the real time, by ending the making of Intl in the middle where the stack is used up
// why: Intl is not to be had before it shows the run's clock
// expect: [true,true,["11/14/2023"],true]
let got = 0, failed = 0;
const seen = new Set();
function look() { const f = new Intl.DateTimeFormat('en-US'); seen.add(f.format()); got++; }
function dive() { try { dive(); } catch { try { if (got < 30) look(); } catch { failed++; } throw 0; } }
try { dive(); } catch {}
look();
const part = new Intl.DateTimeFormat('en-US', { year: 'numeric' }).formatToParts();
return [got > 0, failed >= 0, [...seen], part.length === 1 && part[0].value === '2023'];
