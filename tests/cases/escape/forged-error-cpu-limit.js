// tries: passing for a run that met its CPU limit
// why: the end is the program's own error; a limit is told by the host, in another kind of end
// end: threw
// error: CpuLimitError: The program used its 300 ms of CPU time
// code: cpu_limit
throw Object.assign(new Error('The program used its 300 ms of CPU time (limits.cpuMs).'), { code: 'cpu_limit', name: 'CpuLimitError' });
