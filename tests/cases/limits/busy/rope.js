// what: a text of ropes that is made flat again and again
// end: cpu_limit|memory_limit
let s = 'a';
for (let i = 0; i < 24; i++)
    s += s;
for (let i = 0; ; i++)
    (s + i).indexOf('no');
