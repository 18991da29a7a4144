// tries: more timers than may run
// why: the run ends by that limit
// end: timers_limit
// calls: any
// hang: timer -
return await new Promise((yes) => { for (let i = 0; i < 100000; i++) setTimeout(yes, 1e9); });
