// tries: passing for a run that met the limit of its stack, by the engine's own words
// why: as for memory
// end: stack_limit
throw new RangeError('Maximum call stack size exceeded.');
