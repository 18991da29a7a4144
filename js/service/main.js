// The service realm: lives as long as the VM, sees text only, and no program runs in it.
import { forget, locate } from './locate.js';
import { normalize } from './normalize.js';

globalThis.normalize = (...args) => {
    forget();
    return normalize(...args);
};

globalThis.locate = (asked, run, map, line, source) =>
    locate(asked, module => (module === '' ? { run, map, line, source } : null));
