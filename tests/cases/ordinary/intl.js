// Dates, numbers, plurals, lists, names, collation and segments in many languages and calendars; time zones.
// expect: 27
const d = new Date(1700000000000);
const out = [
  new Intl.DateTimeFormat('de-DE', { dateStyle: 'full', timeStyle: 'long', timeZone: 'America/New_York' }).format(d),
  new Intl.DateTimeFormat('en-u-ca-chinese', { timeZone: 'Asia/Tokyo' }).format(d),
  new Intl.DateTimeFormat('fa-IR-u-ca-persian').formatToParts(d).length,
  new Intl.DateTimeFormat('fr', { timeZone: 'Europe/Paris', timeZoneName: 'longGeneric' }).format(d),
  new Intl.NumberFormat('ja-JP', { style: 'currency', currency: 'JPY' }).format(1234567.8),
  new Intl.NumberFormat('en', { notation: 'compact', compactDisplay: 'long' }).format(123456789),
  new Intl.NumberFormat('de', { style: 'unit', unit: 'kilometer-per-hour' }).format(50),
  new Intl.NumberFormat('ar-EG').format(12345), new Intl.PluralRules('pl').select(3),
  new Intl.RelativeTimeFormat('fr', { numeric: 'auto' }).format(-1, 'day'),
  new Intl.ListFormat('en', { type: 'conjunction' }).format(['a', 'b', 'c']),
  ['z', 'ä', 'a'].sort(new Intl.Collator('sv').compare).join(), new Intl.DisplayNames(['en'], { type: 'region' }).of('DE'),
  [...new Intl.Segmenter('th', { granularity: 'word' }).segment('สวัสดีชาวโลก')].length,
  new Intl.Locale('zh-Hant-TW').maximize().toString(), d.toLocaleString('ko-KR'), (1e9).toLocaleString('hi-IN'),
  'İ'.toLocaleLowerCase('tr'), d.toString(), d.toLocaleDateString(), Intl.DateTimeFormat().resolvedOptions().timeZone,
  Intl.supportedValuesOf('timeZone').length > 100, Intl.supportedValuesOf('currency').length > 100, 'ﬁ'.normalize('NFKD'),
  new Date(2020, 5, 5, 5).getTimezoneOffset(), new Date('2024-03-10T02:30:00').toISOString(), Date.parse('1 Jan 2020 00:00 PST'),
];
return out.length;
