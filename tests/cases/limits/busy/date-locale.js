// what: dates as text, by locale
// end: cpu_limit|memory_limit
for (let i = 0; ; i++)
    new Date(i * 1e9).toLocaleString('th-TH', { timeZone: 'Asia/Kathmandu', dateStyle: 'full', timeStyle: 'full' });
