// tries: a boxed value that says something else at every reading
// why: the value inside is taken by the valueOf of before
// expect: [1,"s",true]
Number.prototype.valueOf = () => 2;
String.prototype.valueOf = () => 'other';
String.prototype.toString = () => 'other';
Boolean.prototype.valueOf = () => false;
return [Object(1), Object('s'), Object(true)];
