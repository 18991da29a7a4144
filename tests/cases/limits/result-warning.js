// what: a result that is cut says which limit and what to do
// limits: {"resultBytes": 100}
// 100: completed without warnings
// 101: completed with limits.resultBytes
return 'x'.repeat(input);
