// tries: reading paths and secrets from the text of the host's functions
// why: their text is the prelude's, which knows neither
// expect: [false,false,false,false]
return [svc.first, codemode.search, console.log, setTimeout].map((f) => /\/(home|usr|work|tmp|src)\/|token|secret|password/i.test(Function.prototype.toString.call(f)));
