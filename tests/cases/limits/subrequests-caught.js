// what: a limit is not caught
// limits: {"subrequests": 2}
// 2: completed
// 3: subrequests_limit with limits.subrequests
for (let i = 0; i < input; i++)
    await svc.ok({ i }).catch(() => {});
