// what: segments of a long text
// end: cpu_limit
const text = '👨‍👩‍👧‍👦 नमस्ते '.repeat(20000), s = new Intl.Segmenter('hi', { granularity: 'grapheme' });
for (;;)
    for (const x of s.segment(text))
        x;
