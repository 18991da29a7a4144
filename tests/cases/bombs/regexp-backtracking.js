// what: matches that keep their groups
// end: memory_limit
const kept = [], text = 'ab12 '.repeat(5000);
for (let i = 0;; i++)
    kept.push([...(text + i).matchAll(/(\w)(\w)(\d)(\d)/g)]);
