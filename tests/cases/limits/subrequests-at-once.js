// what: calls that are made at once count as much
// limits: {"subrequests": 5}
// 5: completed
// 6: subrequests_limit with more than 5 connector calls
await Promise.all(Array.from({ length: input }, (_, i) => svc.ok({ i })));
