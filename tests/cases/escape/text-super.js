// tries: super and private names without a class
// why: neither exists outside of one
// end: threw
// error: SyntaxError: 'super' keyword outside a method
// code: syntax
svc.first({});
return super.constructor;
