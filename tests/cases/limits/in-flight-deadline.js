// what: a run that ends while calls wait for others says which limit they waited for
// limits: {"callsInFlight": 3, "deadlineMs": 2000}
// 3: deadline without limits.callsInFlight
// 5: deadline with 5 calls were unanswered. Make fewer or faster calls in one run. 2 of the calls had not been made: at most 3 are under way
await Promise.all(Array.from({ length: input }, () => svc.never({})));
