// tries: the same in a warning, where it would cost the run its result
// why: as there
// expect: 1
// warning: Error: xxxxxxxx
Promise.reject(new Error('x'.repeat(15999 - 'A promise was rejected and nothing awaited it: Error: '.length) + '😀'.repeat(10)));
return 1;
