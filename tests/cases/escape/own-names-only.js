// tries: finding more on a connector than its methods
// why: it has no prototype, no symbols, and the names of its methods alone
// expect: [true,[],[],["search","describe","step","run"]]
return [Object.getPrototypeOf(svc) === null, Object.getOwnPropertyNames(svc), Object.getOwnPropertySymbols(svc), Object.getOwnPropertyNames(codemode)];
