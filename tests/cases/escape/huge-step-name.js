// tries: the same as the name of a step, with half of a surrogate pair
// why: names are made well-formed texts, and counted
// expect: [1,2]
// call: step �
// call: step ended 1
// call: step a�b
// call: step ended 2
return [await codemode.step('\ud800', () => 1), await codemode.step('a\udc00b', () => 2)];
