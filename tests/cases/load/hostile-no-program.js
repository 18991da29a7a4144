// what: is no program
// ends: syntax
await svc.begin({ n: __N__ });
return ((((((((((((((((((((((((;
