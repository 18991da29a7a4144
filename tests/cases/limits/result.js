// what: the result as it is shown; the record keeps it whole, so that the run has completed
// limits: {"resultBytes": 100}
// 99: completed without truncated
// 100: completed without truncated
// 101: completed with "truncated":{"bytes":101,"shown":100}
return 'x'.repeat(input);
