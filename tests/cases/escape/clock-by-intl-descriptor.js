// tries: the engine's Intl before it shows the run's clock: by the property's descriptor, by its setter, by a second getter
// why: what a reading gives is patched, whichever way it was read
// expect: ["11/14/2023","11/14/2023",true]
const d = Object.getOwnPropertyDescriptor(globalThis, 'Intl');
globalThis.Intl = 5;
const a = d.get(), b = d.get();
return [new a.DateTimeFormat('en-US').format(), new b.DateTimeFormat('en-US').format(), a.DateTimeFormat.prototype.constructor === a.DateTimeFormat];
