// tries: a result that contains itself
// why: a cycle has no form outside; it is an error that names its place
// end: threw
// error: TypeError: result.self is a reference to an object that contains it (a cycle)
const a = {};
a.self = a;
return a;
