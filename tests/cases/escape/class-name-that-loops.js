// tries: a failure whose name never ends
// why: the CPU limit counts while the error is described as well
// end: cpu_limit
class E extends Error { get name() { for (;;); } }
throw new E('x');
