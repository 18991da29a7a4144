// tries: an error each of whose causes makes another
// why: causes are followed eight deep, and a getter's is none
// end: threw
// error: Error: top
const cause = { get() { const e = new Error('next'); Object.defineProperty(e, 'cause', cause); return e; } };
throw Object.defineProperty(new Error('top'), 'cause', cause);
