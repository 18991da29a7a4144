// tries: the engine's own Date by constructor, prototype, species and bound copies
// why: the prototype's constructor is the one that shows the run's clock; the engine's has no other door
// expect: [true,true,1700000000000,1700000000000,1700000000000]
const f = Date.bind(null), g = new Intl.DateTimeFormat('en').format;
return [new Date(0).constructor === Date, Object.getPrototypeOf(class extends Date {}) === Date, +new (Date.bind(null))(), +new (new Date().constructor)(), Date.now.call(undefined)];
