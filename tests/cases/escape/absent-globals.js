// tries: finding what opens files, sockets, threads or other memory
// why: nothing of the kind exists in a realm
// expect: []
return ['process', 'require', 'Deno', 'Bun', 'WebAssembly', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'Worker',
  'XMLHttpRequest', 'WebSocket', 'importScripts', 'load', 'read', 'readFile', 'readline', 'print', 'quit', 'gc', '$vm', '$',
  'window', 'document', 'os', 'std', 'scriptArgs', 'Temporal', 'ShadowRealm'].filter((name) => name in globalThis);
