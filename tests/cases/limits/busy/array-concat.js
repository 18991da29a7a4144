// what: concat of what claims to be long
// end: cpu_limit|memory_limit|threw
return [].concat({ length: 2 ** 32 - 1, [Symbol.isConcatSpreadable]: true });
