// what: a string split into its characters and its words
// end: memory_limit
const kept = [], text = 'some words of a text '.repeat(2000);
for (let i = 0;; i++)
    kept.push((text + i).split(''), (text + i).split(' '));
