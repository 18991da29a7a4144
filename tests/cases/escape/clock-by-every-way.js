// tries: the real time by every function that has one
// why: all show the run's clock, which stands still between calls
// expect: [1700000000000,1700000000000,1700000000000,1700000000000,true,true,true,0,1700000000000]
class Mine extends Date {}
const day = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC' });
return [Date.now(), new Date().getTime(), +new Mine(), +Reflect.construct(Date, [], Object.assign(function () {}, { prototype: Date.prototype })),
  Date().startsWith('Tue Nov 14 2023'), day.format() === '11/14/2023', day.formatToParts().map((p) => p.value).join('') === '11/14/2023',
  performance.now(), performance.timeOrigin];
