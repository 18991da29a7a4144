// what: the number of calls
// limits: {"subrequests": 5}
// 4: completed
// 5: completed with "result":5
// 6: subrequests_limit with more than 5 connector calls (limits.subrequests); the one that was too many is svc.ok (line 7). Do more with each call
for (let i = 0; i < input; i++)
    await svc.ok({ i });
return input;
