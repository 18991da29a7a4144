// leaves: other defaults of language, time zone and formats
const real = Intl.DateTimeFormat;
Intl.DateTimeFormat = function () { return new real('de-DE', { timeZone: 'Asia/Tokyo' }); };
Intl.NumberFormat = () => ({ format: () => 'mine' });
Intl.DateTimeFormat.prototype = real.prototype;
real.prototype.resolvedOptions = real.prototype.formatToParts = () => 'mine';
Intl.getCanonicalLocales = Intl.supportedValuesOf = () => ['mine'];
Number.prototype.toLocaleString = Date.prototype.toLocaleString = String.prototype.localeCompare = () => 'mine';
return (1).toLocaleString();
// ---- next run
// expect: ["UTC","en-US","1,234.5","1/1/1970",["en-US"],1]
const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
return [timeZone, locale, (1234.5).toLocaleString(), Intl.DateTimeFormat().format(0), Intl.getCanonicalLocales('en-us'), 'b'.localeCompare('a')];
