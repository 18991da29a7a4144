// tries: with over a connector, so that every name of the program would be a method
// why: a connector has its methods' names alone, and no unscopables
// expect: ["number","undefined","function"]
return Function('svc', 'with (svc) { return [typeof Math.PI, typeof nothing, typeof parseInt]; }')(svc);
