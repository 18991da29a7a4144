// Many rows to text and back, sorted; deep nesting; indentation; revivers.
// expect: [30000,true,5000,3]
const rows = Array.from({ length: 30000 }, (_, i) => ({ id: i, name: 'n' + i, tags: ['a', { c: i / 3 }], when: new Date(i * 1e6) }));
const back = JSON.parse(JSON.stringify(rows)).sort((a, b) => (b.name < a.name ? 1 : -1));
const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
let depth = 0;
for (let at = deep; at; at = at[0]) depth++;
return [back.length, JSON.stringify(back, null, 2).length > 1e6, depth, JSON.parse('{"a":1}', (k, v) => (k ? v + 2 : v)).a];
