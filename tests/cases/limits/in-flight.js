// what: calls over those that may be under way wait, and none is lost: the most that were seen at once
// limits: {"callsInFlight": 3}
// 2: completed with "result":2
// 3: completed with "result":3
// 4: completed with "result":3
// 20: completed with "result":3
const seen = await Promise.all(Array.from({ length: input }, () => svc.hold({})));
if (seen.length !== input)
    throw new Error('some were lost');
return Math.max(...seen);
