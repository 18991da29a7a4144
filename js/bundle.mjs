// Bundles the scripts that the engine embeds and writes them as one C header of byte arrays.
//
//   node js/bundle.mjs OUT.h OUT.d
//
// OUT.d names every file that went in, for Ninja.
//
// service: acorn and the normaliser, evaluated once for each VM.
// typescript: the part of the service that takes types away; loaded there when a program first needs it.
// prelude: evaluated in every fresh realm; an expression whose value is a function of `send` that returns `control`.
// web/*: the web interfaces, evaluated in a realm at the first use of one of their names.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { files } from './web/scripts.js';

const here = dirname(fileURLToPath(import.meta.url));
const inputs = new Set();

async function esbuild() {
    try {
        const { build } = await import('esbuild');
        await import('acorn');
        return build;
    } catch (e) {
        console.error(`js/bundle.mjs: ${e.message}\nThe bundle needs the npm packages of package-lock.json: run "npm ci" in the `
            + 'project\'s folder once.');
        process.exit(1);
    }
}

// What the packages of the web interfaces ask for, and what they get of ours instead (the reasons stand in those files).
const instead = {
    name: 'instead',
    setup(build) {
        const give = (filter, file) => build.onResolve({ filter }, () => ({ path: join(here, 'web', file) }));
        give(/^tr46$/, 'tr46.js');
        give(/^webidl-conversions$/, 'webidl.js');
        build.onResolve({ filter: /^\.\/encoding$/ }, ({ importer }) => (/whatwg-url/.test(importer) ? { path: join(here, 'web/utf8.js') } : undefined));
    },
};

// Sucrase without what it can do besides (Flow, JSX, older languages, CommonJS): none of it is called with the options in use, and every
// function of it would be in the heap of every worker. And a table of its parser in another way; the reason stands in that file.
const UNUSED = /sucrase\/dist\/esm\/(?:parser\/plugins\/(?:flow|jsx\/index)|transformers\/(?:CJSImport|Flow|JSX|JestHoist|NumericSeparator|OptionalCatchBinding|OptionalChainingNullish|ReactDisplayName|ReactHotLoader)Transformer)\.js$/;
const lighter = {
    name: 'lighter',
    setup(build) {
        build.onResolve({ filter: /\/util\/identifier$/ }, () => ({ path: join(here, 'service/identifier.js') }));
        build.onLoad({ filter: UNUSED }, ({ path }) => ({ contents: [...readFileSync(path, 'utf8').matchAll(/^export (default class|function) (\w+)/gm)]
            .map(([, kind, name]) => (kind === 'function' ? `export function ${name}() {}` : `export default class ${name} {}`)).join('\n') }));
    },
};

// Acorn puts together what it knows of `\p{…}` for six versions of the language when it is loaded: a millisecond of every start, where only
// the newest is asked for, and only by programs with a regular expression.
const later = {
    name: 'later',
    setup(build) {
        build.onLoad({ filter: /acorn\/dist\/acorn\.mjs$/ }, ({ path }) => ({ contents: [
            ['for (var i = 0, list = [9, 10, 11, 12, 13, 14]; i < list.length; i += 1) {\n  var ecmaVersion = list[i];\n\n  buildUnicodeData(ecmaVersion);\n}\n', ''],
            ['data[parser.options.ecmaVersion >= 14 ? 14 : parser.options.ecmaVersion]', '(data[14] || buildUnicodeData(14), data[14])'],
        ].reduce((text, [from, to]) => {
            if (text.split(from).length !== 2)
                throw new Error(`js/bundle.mjs: acorn is not as it was: ${from}`);
            return text.replace(from, () => to);
        }, readFileSync(path, 'utf8')) }));
    },
};

// A script of the web interfaces: an expression whose value is a function of `kit` that returns `made`. Packages look for what
// surrounds them in `globalThis`: they find nothing, and so neither the names that are made of them nor what the program left there.
const web = {
    plugins: [instead], platform: 'neutral', mainFields: ['module', 'main'], define: { globalThis: 'nothing' },
    // Classes keep their names: programs see them.
    minifyIdentifiers: false,
};

async function bundle(build, entry, wrap, more = {}) {
    const { outputFiles, warnings, metafile } = await build({
        entryPoints: [join(here, entry)],
        bundle: true, write: false, metafile: true, minifyWhitespace: true, minifySyntax: true, minifyIdentifiers: true, format: 'iife', target: 'es2022', charset: 'ascii', legalComments: 'none',
        logLevel: 'warning', ...more,
    });
    if (warnings.length > 0)
        process.exit(1);
    for (const path of Object.keys(metafile.inputs))
        inputs.add(resolve(path));
    return wrap(outputFiles[0].text.trimEnd());
}

// Rows of 20 numbers; ASCII, closed by a NUL that the length leaves out.
function array(name, text) {
    const bytes = Buffer.from(text, 'ascii');
    let rows = '';
    for (let i = 0; i < bytes.length; i += 20)
        rows += '    ' + [...bytes.subarray(i, i + 20)].join(', ') + ',\n';
    return `static const char cm_${name}_js[] = {\n${rows}    0};\n`;
}

const build = await esbuild();
const service = await bundle(build, 'service/main.js', text => text, { plugins: [later] });
const types = await bundle(build, 'service/typescript.js', text => text, { plugins: [lighter] });
const prelude = await bundle(build, 'prelude/main.js', text => `(send=>{"use strict";let control;${text.replace(/^"use strict";/, '')}return control})`);
let arrays = array('service', service) + array('types', types) + array('prelude', prelude);
for (const file of files) {
    arrays += array('web_' + file, await bundle(build, `web/${file}.js`,
        text => `(kit=>{"use strict";const nothing={__proto__:null};let made;${text.replace(/^"use strict";/, '')}return made})`, web));
}
arrays += `static const char *const cm_web_js[] = {${files.map(file => `cm_web_${file}_js`).join(', ')}};\n`;
writeFileSync(process.argv[2], '/* Generated by js/bundle.mjs. */\n' + arrays);
writeFileSync(process.argv[3], process.argv[2] + ':' + [...inputs].map(path => ' ' + path.replace(/\$/g, '$$$$').replace(/[ #]/g, '\\$&')).join('') + '\n');
