// tries: line and paragraph separators, which end a comment and not a string
// why: both parsers count them as line ends: the code behind them is seen by the checker
// expect: ["first",3]
// call: svc.first
const s = 'a b';
let said; // a comment   said = await svc.first();
return [said, s.length];
