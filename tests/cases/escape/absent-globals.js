// why: what opens files, sockets, threads or other memory does not exist in a realm
// expect: []
return ['process', 'require', 'Deno', 'Bun', 'WebAssembly', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'Worker',
  'XMLHttpRequest', 'WebSocket', 'importScripts', 'load', 'read', 'readFile', 'readline', 'print', 'quit', 'gc', '$vm', '$',
  'window', 'document', 'os', 'std', 'scriptArgs'].filter((name) => name in globalThis);
