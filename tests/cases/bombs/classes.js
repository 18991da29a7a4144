// what: classes with methods, statics and private fields
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(class { #own = i; static at = i; get own() { return this.#own; } set own(v) { this.#own = v; } twice() { return this.#own * 2; } });
