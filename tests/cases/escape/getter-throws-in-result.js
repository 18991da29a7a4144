// tries: an exception while the result is taken
// why: the program has then failed by its own exception, with that exception's fields
// end: threw
// error: RangeError: from the getter
// code: mine
return { a: 1, get b() { throw Object.assign(new RangeError('from the getter'), { code: 'mine' }); } };
