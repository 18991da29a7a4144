// tries: another name and place for itself by sourceURL and sourceMappingURL
// why: names are for messages: a call goes where it goes, and an error says what it can
// end: threw
// call: svc.first
// error: TypeError: null is null, so 'x' cannot be read from it
await svc.first();
null.x;
//# sourceURL=/etc/passwd
//# sourceMappingURL=data:application/json,{}
