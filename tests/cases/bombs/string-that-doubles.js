// what: a string doubled until it is read
// end: memory_limit
let s = 'xy';
for (;;) {
    s += s + '!';
    s.charCodeAt(0);
}
