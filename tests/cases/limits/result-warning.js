// what: a result that is cut says which limit and what to do
// limits: {"resultBytes": 100}
// 100: completed without result_limit
// 101: completed with "truncated":{"code":"result_limit","message":"The result has 101 bytes and is cut (limits.resultBytes is 100)
return 'x'.repeat(input);
