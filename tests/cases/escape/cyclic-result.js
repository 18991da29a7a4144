// why: a cycle has no form outside; it is an error that names its place
// end: threw
const a = {};
a.self = a;
return a;
