// tries: passing for another class by Symbol.toStringTag and constructor
// why: a class is told by what a value is made of; a tag is only a name in a message
// end: threw
// error: TypeError: result is an instance of Promise; return plain data
const o = Object.create({ [Symbol.toStringTag]: 'Promise', constructor: Map });
return o;
