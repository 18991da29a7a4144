// what: calls without end
// ends: subrequests_limit
await svc.begin({ n: __N__ });
for (;;)
    await svc.echo({ n: __N__ });
