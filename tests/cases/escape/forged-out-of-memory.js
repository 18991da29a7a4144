// tries: passing for a run that met its memory limit, by the engine's own words
// why: whoever says so is believed: the run has failed, and its worker is not used again
// end: memory_limit
throw new RangeError('Out of memory');
