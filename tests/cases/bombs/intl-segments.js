// what: segments of texts
// end: memory_limit
const kept = [], seg = new Intl.Segmenter('en', { granularity: 'word' }), text = 'some words of a text '.repeat(100);
for (let i = 0;; i++)
    kept.push([...seg.segment(text + i)]);
