// The service realm: lives as long as the VM, sees text only, and no program runs in it.
import { forget, locate } from './locate.js';
import { moduleOf } from './modules.js';
import { normalize } from './normalize.js';
import { forgetSnippets, snippetOf, snippetText } from './snippets.js';

globalThis.normalize = (...args) => {
    forget();
    forgetSnippets();
    return normalize(...args);
};

globalThis.module = moduleOf;
globalThis.snippet = snippetOf;

globalThis.locate = (asked, run, map, line, source) => locate(asked, name => {
    const text = name === '' ? { run, map, line, source } : snippetText(name) ?? moduleOf(name);
    return text === null || text.error !== undefined ? null : text;
});
