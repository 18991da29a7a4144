// tries: import.meta where the checker does not see it
// why: the engine's own parser refuses it in a function
// expect: ["SyntaxError","SyntaxError","SyntaxError"]
return ['return import.meta', 'return import.meta.url', 'import fs from "fs"'].map((text) => {
  try { return String(Function(text)()); } catch (e) { return e.name; }
});
