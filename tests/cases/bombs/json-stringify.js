// what: a document that doubles, written
// end: memory_limit
let v = { a: 'text', b: [1, 2, 3] };
const kept = [];
for (;;) {
    v = { left: v, right: v };
    kept.push(JSON.stringify(v));
}
