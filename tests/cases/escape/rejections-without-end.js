// tries: a rejection that makes the next one
// why: of the first hundred the reasons are read, and no more run any code
// expect: 1
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
// warning: A promise was rejected and nothing awaited it: Error: m (line 24)
const again = () => { const e = {}; Object.defineProperty(e, 'message', { get() { again(); return 'm'; } }); Promise.reject(e); };
again();
return 1;
