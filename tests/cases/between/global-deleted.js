// leaves: a global object without most of its names
const world = globalThis;
for (const name of Object.getOwnPropertyNames(world))
  delete world[name];
return 'gone';
// ---- next run
// expect: ["function","object","object","function","function","function","object","function",[2,4]]
return [typeof Array, typeof JSON, typeof Math, typeof Promise, typeof setTimeout, typeof Map, typeof console, typeof eval,
  Array.from([1, 2]).map((x) => x * 2)];
