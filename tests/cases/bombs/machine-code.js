// what: many hot functions
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    let body = 'let s = x;';
    for (let k = 0; k < 60; k++)
        body += `s = (s * ${k + i} + o.p${k % 7}) % ${1000 + k}; if (s > ${k}) s -= a[${k % 8}];`;
    const f = new Function('x', 'o', 'a', body + 'return s;');
    const o = { p0: 1, p1: 2, p2: 3, p3: 4, p4: 5, p5: 6, p6: i }, a = [1, 2, 3, 4, 5, 6, 7, 8.5];
    for (let k = 0; k < 300; k++)
        f(k, o, a);
    kept.push(f);
}
