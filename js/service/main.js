// The service realm: lives as long as the VM, sees text only, and no program runs in it.
import { readOnce } from './again.js';
import { bindTo } from './binding.js';
import { forget, locate } from './locate.js';
import { moduleOf } from './modules.js';
import { normalize } from './normalize.js';
import { forgetSnippets, snippetOf, snippetText } from './snippets.js';

globalThis.normalize = (source, input, bind) => {
    forget();
    forgetSnippets();
    bindTo(bind);
    return readOnce(normalize, source, input, bind);
};

globalThis.module = moduleOf;
globalThis.snippet = snippetOf;

globalThis.locate = (asked, run, map, line, source) => locate(asked, name => {
    const text = name === '' ? { run, map, line, source } : snippetText(name) ?? moduleOf(name);
    return text === null || text.error !== undefined ? null : text;
});
