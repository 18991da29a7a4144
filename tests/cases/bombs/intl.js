// what: formatters of the library for languages
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(new Intl.NumberFormat('de', { minimumFractionDigits: i % 20 }), new Intl.DateTimeFormat('fr', { dateStyle: 'full', timeZone: 'Asia/Tokyo' }),
        new Intl.Collator('sv'), new Intl.PluralRules('ar'));
