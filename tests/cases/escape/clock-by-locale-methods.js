// tries: the real time by the methods that make a formatter of their own
// why: they format the date that they belong to, and a new date shows the run's clock
// expect: ["11/14/2023","11/14/2023, 10:13:20 PM","Invalid Date","TypeError","TypeError"]
const f = new Intl.DateTimeFormat('en-US'), say = (fn) => { try { return fn(); } catch (e) { return e.name; } };
return [new Date().toLocaleDateString('en-US'), new Date().toLocaleString('en-US').replace(/\s/g, ' '), new Date(undefined).toLocaleString(),
  say(() => f.formatRange(undefined, new Date())), say(() => f.formatRangeToParts(new Date(), undefined))];
