// what: a constructor that is chosen by species
// end: cpu_limit
class A extends Array {
    static get [Symbol.species]() {
        for (;;);
    }
}
return new A(3).map(x => x);
