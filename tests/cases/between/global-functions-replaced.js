// leaves: other functions under the names of the language and of ours
for (const name of ['parseInt', 'isNaN', 'eval', 'encodeURIComponent', 'Array', 'Object', 'Promise', 'Error', 'setTimeout', 'queueMicrotask',
  'fetch', 'performance', 'crypto'])
  globalThis[name] = () => 'mine';
return parseInt('1');
// ---- next run
// expect: [12,true,2,"%20","Error",true]
return [parseInt('12'), isNaN(NaN), eval('1+1'), encodeURIComponent(' '), new Error('x').name, crypto.randomUUID().length === 36];
