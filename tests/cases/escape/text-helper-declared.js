// tries: the same by declaring the name itself
// why: then the wrapper takes another
// end: threw
// error: Error: text
const $cm = { at() { return 'mine'; } };
throw 'text';
