// what: valueOf where a number is wanted
// end: cpu_limit
return 1 + { valueOf() { for (;;); } }
