// tries: objects, functions and huge texts as what search and describe are asked
// why: they are encoded like any argument; the host decides what it takes
// expect: ["TypeError","TypeError","undefined"]
// call: search {"then":1}
// call: describe [1]
return [await codemode.search(() => 1).catch((e) => e.name), await codemode.describe(Symbol()).catch((e) => e.name), typeof ((await codemode.search({ then: 1 })) ?? (await codemode.describe([1])))];
