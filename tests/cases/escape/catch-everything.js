// tries: catching the end, in every handler at once
// why: no handler runs
// end: cpu_limit
// log: log begun
console.log('begun');
try { await (async () => { try { for (;;); } catch { console.log('caught'); } finally { console.log('finally'); } })(); } catch { console.log('outer'); }
return 'went on';
