// tries: import.meta, which would name the script's place
// why: a program is no module; the engine refuses the text before any of it runs
// end: threw
// error: SyntaxError: import.meta is only valid inside modules
await svc.first({});
return import.meta.url;
