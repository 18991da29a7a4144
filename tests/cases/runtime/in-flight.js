// limits: {"callsInFlight": 3, "subrequests": 60}
const all = await Promise.all(Array.from({ length: 50 }, (_, i) => t.echo({ n: i })));
return all.reduce((sum, x) => sum + x.n, 0);
