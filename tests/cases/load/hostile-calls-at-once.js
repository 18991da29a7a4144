// what: calls without end, and awaits none
// ends: calls_in_flight_limit|subrequests_limit
await svc.begin({ n: __N__ });
for (;;)
    svc.later({ n: __N__, ms: 1 });
