// tries: more calls at once than may be unanswered
// why: the run ends by that limit, whatever it would do with the answers
// end: calls_in_flight_limit
// calls: any
// hang: never -
for (let i = 0; i < 100000; i++) svc.never({ i }).catch(() => {});
await svc.never({});
