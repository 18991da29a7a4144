// leaves: formats of many languages and zones in the engine's caches
const out = [];
for (const l of ['de-DE', 'ja-JP', 'ar-EG', 'th-TH-u-ca-buddhist', 'fa-IR'])
  out.push(new Date(0).toLocaleString(l, { timeZone: 'Asia/Tokyo', dateStyle: 'full' }), (1234.5).toLocaleString(l), 'ä'.localeCompare('z', l));
return out.length;
// ---- next run
// expect: ["1/1/1970, 12:00:00 AM","1,234.5",-1,"Thursday, January 1, 1970","UTC"]
return [new Date(0).toLocaleString().replace(/\s/g, ' '), (1234.5).toLocaleString(), 'ä'.localeCompare('z'), new Date(0).toLocaleDateString('en-US', { dateStyle: 'full' }),
  new Intl.DateTimeFormat().resolvedOptions().timeZone];
