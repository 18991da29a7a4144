// tries: the real time by what the web interfaces have of it
// why: all of them show the run's clock, which stands still between calls and timers
// expect: [0,0,0,0,true,true,1700000000000]
// call: timer 0
const read = () => [performance.now(), new Event('x').timeStamp, new CustomEvent('y').timeStamp];
const before = read();
for (let i = 0, x = 0; i < 3e6; i++) x += i;
const after = read();
const signal = AbortSignal.timeout(0);
return [...after.map((t, i) => t - before[i]), new File([], 'f').lastModified - Date.now(), signal.aborted === false, performance.timeOrigin === Date.now(),
  structuredClone(new Date()).getTime()];
