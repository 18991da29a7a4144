// tries: an unreadable report, by a message that is cut in the middle of a surrogate pair
// why: a text is made well-formed after it was cut
// end: threw
// error: Error: xxxxxxxx
throw new Error('x'.repeat(15999) + '😀'.repeat(10));
