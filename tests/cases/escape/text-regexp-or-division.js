// tries: a text that one parser reads as a division and another as a regular expression, with a bracket inside
// why: the engine reads the very text that was checked; both read it as the grammar says
// expect: [5,true]
const a = 10, g = 1;
const x = a / 2 / g, y = /}\)/g.test('})');
return [x, y];
