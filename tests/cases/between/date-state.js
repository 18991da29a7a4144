// leaves: another clock
Date.now = () => 5;
Date.parse = Date.UTC = () => 5;
Date.prototype.getTime = Date.prototype.valueOf = Date.prototype.toISOString = () => 'mine';
Date.prototype.constructor.now = () => 5;
globalThis.Date = function () { return { getTime: () => 5 }; };
performance.left = 1;
return new Date().getTime();
// ---- next run
// expect: [1700000000000,1700000000000,"1970-01-01T00:00:00.000Z",0,true,"undefined"]
return [Date.now(), new Date().getTime(), new Date(0).toISOString(), performance.now(), new Date(0).constructor === Date, typeof performance.left];
