// import and require. What they name is here already (specifiers.js), so an import becomes a declaration of the same names at the start
// of the program, where imports are hoisted to, and its own text is blanked: no line moves. Modules of the configuration are loaded
// while the program runs; what is shown has import() for that, what runs has the prelude's helper.
import { binding } from './binding.js';
import { walk } from './parse.js';
import { Refusal } from './refusal.js';
import { known, resolve } from './specifiers.js';

// What codemode has besides the connectors (js/prelude/namespaces.js).
const SDK = ['search', 'describe', 'step', 'run'];

const nameOf = node => node.name ?? node.value;
const quoted = name => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function refuse(what, pos) {
    throw new Refusal(`${what} is not possible: there is no such module. ${known()}`, pos, 'no_modules');
}

// A global by a name that the program may have for something of its own.
function globalText(name, used) {
    return used.has(name) ? `globalThis.${name}` : name;
}

function builtinMember({ name, exports }, wanted, pos) {
    const found = Object.hasOwn(exports, wanted) ? exports[wanted] : undefined;
    if (found === undefined)
        throw new Refusal(`${name} has no ${wanted} here; it has ${Object.keys(exports).join(', ')}. ${known()}`, pos, 'no_modules');
    return found;
}

const objectText = exports => `({ ${Object.entries(exports).map(([name, value]) => `${quoted(name)}: ${value}`).join(', ')} })`;

// Names that stand in the program for something besides what is imported under them.
function usedNames(body) {
    const used = new Set();
    for (const statement of body) {
        if (statement.type !== 'ImportDeclaration') {
            walk(statement, node => {
                if (node.type === 'Identifier')
                    used.add(node.name);
            });
        }
    }
    return used;
}

// The pattern of what is taken from something: `{ a: b }`, or a name for all of it.
function patternsOf(specifiers) {
    const patterns = [], named = [];
    for (const s of specifiers) {
        if (s.type === 'ImportNamespaceSpecifier')
            patterns.push(s.local.name);
        else {
            const imported = s.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(s.imported);
            named.push(imported === s.local.name ? imported : `${quoted(imported)}: ${s.local.name}`);
        }
    }
    if (named.length > 0)
        patterns.push(`{ ${named.join(', ')} }`);
    return patterns;
}

function fromGlobal(target, specifiers, used) {
    const text = globalText(target.name, used);
    return specifiers.flatMap(s => {
        const local = s.local.name, imported = s.type === 'ImportSpecifier' ? nameOf(s.imported) : 'default';
        // `import { github } from "codemode"` and `import github from "github"` name what is there.
        if (imported === 'default' || (target.name === 'codemode' && imported === 'codemode'))
            return local === target.name ? [] : [`const ${local} = ${text};`];
        if (target.name === 'codemode' && !SDK.includes(imported) && !binding().connectors.includes(imported))
            throw new Refusal(`codemode has no ${imported}; it has ${SDK.join(', ')} and the connectors. ${known()}`, s.start, 'no_modules');
        if (target.name === 'codemode' && imported === local && !SDK.includes(imported))
            return [];
        return [`const { ${imported === local ? local : `${quoted(imported)}: ${local}`} } = ${text};`];
    });
}

function fromBuiltin(target, specifiers) {
    return specifiers.flatMap(s => {
        const local = s.local.name;
        const whole = s.type === 'ImportNamespaceSpecifier' || (s.type === 'ImportDefaultSpecifier' && !Object.hasOwn(target.exports, 'default'));
        const value = whole ? objectText(target.exports) : builtinMember(target, s.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(s.imported), s.start);
        return value === local ? [] : [`const ${local} = ${value};`];
    });
}

function fromModule(target, specifiers, helper) {
    const name = JSON.stringify(target.name), patterns = patternsOf(specifiers);
    const wanted = specifiers.filter(s => s.type !== 'ImportNamespaceSpecifier').map(s => (s.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(s.imported)));
    const loads = wanted.length > 0 ? `${helper}.load(${name}, ${JSON.stringify(wanted)})` : `${helper}.load(${name})`;
    if (patterns.length === 0)
        return { shown: [`await import(${name});`], run: [`await ${loads};`] };
    return { shown: patterns.map(p => `const ${p} = await import(${name});`), run: patterns.map(p => `const ${p} = await ${loads};`) };
}

// Declarations of what one import names: {shown, run}, lists of statements.
function declarationsOf(node, used, helper) {
    const target = resolve(node.source.value);
    if (target === null)
        refuse(`import from '${node.source.value}'`, node.start);
    if (target.kind === 'module')
        return fromModule(target, node.specifiers, helper);
    const texts = target.kind === 'global' ? fromGlobal(target, node.specifiers, used) : fromBuiltin(target, node.specifiers);
    return { shown: texts, run: texts };
}

const literal = node => (node?.type === 'Literal' && typeof node.value === 'string' ? node.value
    : node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : null);

// The text in place of a range: as many lines as there were.
function replaceRange(program, { start, end }, text) {
    program.replace(start, end, text + program.text.slice(start, end).replace(/[^\r\n\u2028\u2029]/g, ''));
}

function dynamicImport(program, node, used, helper) {
    const specifier = literal(node.source), target = specifier === null ? { kind: 'module' } : resolve(specifier);
    if (target === null)
        refuse(`import('${specifier}')`, node.start);
    if (target.kind === 'module')
        program.only('run', p => p.replace(node.start, node.start + 'import'.length, `${helper}.load`));
    else
        replaceRange(program, node, `(async () => ${target.kind === 'global' ? globalText(target.name, used) : objectText(target.exports)})()`);
}

// require() of what is not here stays what it is everywhere else: an error that a program may catch.
function requireCall(program, node, owner, used, helper) {
    const specifier = literal(node.arguments[0]), target = specifier === null ? null : resolve(specifier);
    if (target === null)
        return;
    if (target.kind !== 'module') {
        replaceRange(program, node, target.kind === 'global' ? globalText(target.name, used) : objectText(target.exports));
        return;
    }
    if (owner !== null && owner.async !== true)
        throw new Refusal(`require('${specifier}') cannot wait for the module here; write const x = await import('${specifier}') at the start`, node.start, 'no_modules');
    program.around(node.start, node.end, '(await ', ')');
    program.only('shown', p => p.replace(node.callee.start, node.callee.end, 'import'));
    program.only('run', p => p.replace(node.callee.start, node.callee.end, `${helper}.load`));
}

const isRequire = node => node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require'
    && node.arguments.length === 1;

const declaresRequire = text => /\b(?:const|let|var|function)\s+require\b/.test(text);

// Calls of import and require below these statements.
export function rewriteCalls(program, body, helper) {
    const { text } = program, requires = text.includes('require') && !declaresRequire(text);
    if (!requires && !/\bimport\s*\(/.test(text))
        return;
    const used = usedNames(body);
    for (const statement of body) {
        walk(statement, (node, owner) => {
            if (node.type === 'ImportExpression')
                dynamicImport(program, node, used, helper);
            else if (requires && isRequire(node))
                requireCall(program, node, owner, used, helper);
        });
    }
}

// The parser takes import and export anywhere, since a program is the body of a function; in a block they mean nothing.
function refuseMisplaced(text, body) {
    if (!/\b(?:import|export)\b/.test(text))
        return;
    for (const statement of body) {
        walk(statement, node => {
            if (node.type === 'MetaProperty' && node.meta.name === 'import')
                throw new Refusal('import.meta is not possible: a program has no address of its own. Leave it out', node.start, 'syntax');
            const misplaced = node === statement ? null : /^(Import|Export)\w*Declaration$/.exec(node.type);
            if (misplaced !== null)
                throw new Refusal(`${misplaced[1].toLowerCase()} stands only at the top level of a program, in no block and behind no label; move it there`, node.start, 'syntax');
        });
    }
}

// Takes the imports out of a program: {body, shown, run} with the rest of its statements, and the declarations, each a text, that
// stand for them. `helper` is the name by which what runs knows the prelude's helper.
export function takeImports(program, body, helper) {
    const shown = [], run = [];
    let used = null;
    refuseMisplaced(program.text, body);
    for (const node of body) {
        if (node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source !== null))
            throw new Refusal(`export from '${node.source.value}' is not possible: nobody imports a program. Import what it needs, and return its result`, node.start, 'no_modules');
        if (node.type !== 'ImportDeclaration')
            continue;
        const made = declarationsOf(node, used ??= usedNames(body), helper);
        shown.push(...made.shown);
        run.push(...made.run);
        program.removeStatement(node);
    }
    rewriteCalls(program, body, helper);
    return { body: used === null ? body : body.filter(node => node.type !== 'ImportDeclaration'), shown: shown.join(' '), run: run.join(' ') };
}
