// leaves: what the last regular expression has matched
/(s)(e)(c)(r)(e)(t)/.exec('the secret text');
RegExp.input = 'mine';
'a-b'.replace(/(-)/, '+');
return RegExp.$1;
// ---- next run
// expect: ["","","","","","","",""]
return [RegExp.$1, RegExp.$2, RegExp.$9, RegExp.lastMatch, RegExp.lastParen, RegExp.input, RegExp.leftContext, RegExp.rightContext];
