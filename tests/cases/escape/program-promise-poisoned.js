// tries: making its own promise answer twice, by constructor and then of the promise class
// why: the prelude gives that promise its constructor back before it awaits; the result is what was returned
// expect: "returned"
Object.defineProperty(Promise.prototype, 'constructor', { get() { return class { static get [Symbol.species]() { return Array; } }; } });
Promise.prototype.then = function (yes) { yes('forged'); yes('twice'); };
return 'returned';
