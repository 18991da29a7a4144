// tries: names that shells and inspectors of this engine have, and names of ours
// why: the realm has the language's own globals, what is documented, and nothing else
// expect: []
return ['ShadowRealm', '$vm', '$', 'debug', 'load', 'loadString', 'readFile', 'runString', 'gc', 'fullGC', 'quit', 'jscStack', 'Loader', 'agent', 'createGlobalObject',
  'webkit', 'java', 'DisposableStack', 'SuppressedError', 'send', 'made', 'kit', 'deliver', 'normalize', 'locate', 'stripTypes', '$cm']
  .filter(name => { try { return typeof eval(name) !== 'undefined'; } catch (e) { return !/not defined/.test(e.message); } });
