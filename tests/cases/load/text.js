// what: text, regular expressions and the web's interfaces
// result: {"n":__N__,"path":"/of/__N__","words":5000,"base64":"X19O"}
await svc.begin({ n: __N__ });
const text = 'word __N__ '.repeat(5000);
return {
    n: __N__,
    path: new URL('../of/__N__?q=1', 'https://example.com/a/b').pathname,
    words: text.match(/\b__N__\b/g).length,
    base64: btoa('__' + 'N'),
};
