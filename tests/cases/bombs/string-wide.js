// what: text of two bytes a character, replaced and normalised
// end: memory_limit
const kept = [], text = '\u0113\u4e2d'.repeat(20000);
for (let i = 0;; i++)
    kept.push((text + i).normalize('NFD').replaceAll('\u4e2d', '\u4e2d\u6587'));
