// tries: import.meta, which would name the script's place
// why: a program is no module; the engine refuses the text before any of it runs
// end: threw
// error: SyntaxError: import.meta is not possible: a program has no address of its own. Leave it out
// code: syntax
await svc.first({});
return import.meta.url;
