// tries: numbers that a replay would not repeat
// why: all come from the run's seed, by its generator: the same in every run of that seed
// expect: [0.9223340100786238,2571990789,3100723163,"645a4c93-a6c0-4853-ac71-a9d62a887ffd"]
const a = Math.random(), b = new Uint32Array(2), c = crypto.randomUUID();
crypto.getRandomValues(b);
return [a, b[0], b[1], c];
