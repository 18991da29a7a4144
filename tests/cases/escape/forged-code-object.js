// tries: a code that is an object and gives text when it is asked
// why: a code that is neither text nor number is left out
// end: threw
// error: Forged: m
throw Object.defineProperties(new Error('m'), { name: { value: 'Forged' }, code: { value: { valueOf: () => 'x' } } });
