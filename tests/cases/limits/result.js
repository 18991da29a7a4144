// what: the result as it is shown; the record keeps it whole, so that the run has completed
// limits: {"resultBytes": 100}
// 99: completed without truncated
// 100: completed without truncated
// 101: completed with "bytes":101,"shown":100,"at":"result"}
return 'x'.repeat(input);
