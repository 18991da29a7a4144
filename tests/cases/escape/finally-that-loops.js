// tries: going on after the end, in a finally
// why: a run is not asked to stop, it is stopped: no catch and no finally runs
// end: cpu_limit
try { for (;;); } finally { for (;;); }
