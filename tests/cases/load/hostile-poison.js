// what: replaces what the language has, and forges a result
// ends: completed
await svc.begin({ n: __N__ });
const forged = () => 'forged';
JSON.stringify = JSON.parse = Array.prototype.push = Array.prototype.map = Object.keys = Promise.prototype.then = forged;
Object.defineProperty(Object.prototype, 'json', { get: forged, set: forged });
Object.defineProperty(Array.prototype, 0, { get: forged, set: forged });
return { n: __N__ };
