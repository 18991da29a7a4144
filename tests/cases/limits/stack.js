// what: the depth of calls, with the place where it ended
// limits: {"stackKb": 128}
// 1000: completed
// 100000: stack_limit with more deeply than its 128 KB of stack allow (limits.stackKb)
// 100001: stack_limit with "source":
const f = n => (n ? 1 + f(n - 1) : 0);
return f(input);
