// tries: the same in a result
// why: as for arguments
// expect: {"v":1,"list":[2]}
let n = 0;
return { get v() { return ++n; }, get list() { return [++n]; } };
