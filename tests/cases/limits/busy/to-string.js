// what: toString where a text is wanted
// end: cpu_limit
return `${{ toString() { for (;;); } }}`;
