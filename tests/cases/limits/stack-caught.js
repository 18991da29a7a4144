// what: an exhausted stack is an error that can be caught
// limits: {"stackKb": 128}
// 100000: completed with "result":"RangeError"
const f = n => (n ? 1 + f(n - 1) : 0);
try {
    return f(input);
} catch (e) {
    return e.name;
}
