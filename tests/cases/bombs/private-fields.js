// what: instances full of private fields
// end: memory_limit
class C { #a = 1.5; #b = [1]; #c = {}; #d = 'd'; sum() { return this.#a + this.#b[0] + this.#d + this.#c; } }
const kept = [];
for (;;)
    kept.push(new C());
