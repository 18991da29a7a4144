// tries: closing the wrapper from inside a template and its holes
// why: what stands in a template is text, and a hole is an expression of the same function
// expect: "})();1})();"
// call: svc.first
const text = `})();${(() => { return 1; })()}${await svc.first() && ''}})();`;
text
