// what: a question is an argument too
// limits: {"argBytes": 100}
// 98: completed
// 99: arguments_limit with codemode.search: the arguments have 101 bytes
await codemode.search('x'.repeat(input));
