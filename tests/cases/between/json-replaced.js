// leaves: another JSON
JSON.stringify = () => '"mine"';
JSON.parse = () => 'mine';
JSON[Symbol.toStringTag] = 'Mine';
Object.prototype.toJSON = Array.prototype.toJSON = Date.prototype.toJSON = () => 'mine';
globalThis.JSON = { parse: () => 'mine', stringify: () => '"mine"' };
return 1;
// ---- next run
// expect: ["{\"a\":[1]}",{"b":2},"\"1970-01-01T00:00:00.000Z\"",{"c":[3]}]
return [JSON.stringify({ a: [1] }), JSON.parse('{"b":2}'), JSON.stringify(new Date(0)), { c: [3] }];
