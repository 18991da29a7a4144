// A module of the configuration as one function, evaluated in the program's realm when it is first imported. Its text is the host's; it
// runs with nothing more than the program has. Exports become members of the object that it returns when it has run, so a name that
// changes later keeps, for those who imported it, the value it had then.
import { parse } from 'acorn';
import { binding, compiled } from './binding.js';
import { Program } from './edits.js';
import { takeImports } from './imports.js';
import { tokenStart } from './parse.js';
import { resolve } from './specifiers.js';
import { Lines } from './text.js';
import { helperName, noteThrows } from './throws.js';

const options = { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true };
const nameOf = node => node.name ?? node.value;

// The names that a declaration declares.
function namesOf(declaration) {
    const todo = declaration.type === 'VariableDeclaration' ? declaration.declarations.map(d => d.id) : [declaration.id], names = [];
    while (todo.length > 0) {
        const node = todo.shift();
        if (node === null || node === undefined)
            continue;
        if (node.type === 'Identifier')
            names.push(node.name);
        else if (node.type === 'ObjectPattern')
            todo.push(...node.properties.map(p => p.value ?? p.argument));
        else if (node.type === 'ArrayPattern')
            todo.push(...node.elements);
        else
            todo.push(node.left ?? node.argument);
    }
    return names;
}

class Module {
    constructor(name, source) {
        this.name = name;
        this.program = new Program(source, false);
        this.helper = helperName(source);
        this.own = [];
        this.stars = [];
        this.sources = [];
    }

    // What another module has, by a name of ours; loaded before this one runs.
    from(node) {
        const specifier = node.source.value, target = resolve(specifier);
        if (target === null || target.kind === 'builtin')
            throw Object.assign(new Error(`'${specifier}' is neither a module nor a connector here`), { pos: node.start });
        this.sources.push(`await ${this.helper}.load(${JSON.stringify(target.name)})`);
        return `${this.helper}s[${this.sources.length - 1}]`;
    }

    add(exported, value) {
        this.own.push(`[${JSON.stringify(exported)}]: ${value}`);
    }

    exportDefault(node) {
        const { program } = this, { declaration } = node, start = tokenStart(program.text, node, 2);
        if (declaration.type.endsWith('Declaration') && declaration.id !== null) {
            program.remove(node.start, start);
            this.add('default', declaration.id.name);
            return;
        }
        program.replace(node.start, start, `const ${this.helper}d = `);
        this.add('default', `${this.helper}d`);
    }

    exportNamed(node) {
        const { program } = this;
        if (node.declaration !== null) {
            program.remove(node.start, tokenStart(program.text, node, 1));
            for (const name of namesOf(node.declaration))
                this.add(name, name);
            return;
        }
        const from = node.source === null ? null : this.from(node);
        for (const { local, exported } of node.specifiers)
            this.add(nameOf(exported), from === null ? local.name : `${from}[${JSON.stringify(nameOf(local))}]`);
        program.removeStatement(node);
    }

    exportAll(node) {
        const from = this.from(node);
        if (node.exported === null)
            this.stars.push(from);
        else
            this.add(nameOf(node.exported), from);
        this.program.removeStatement(node);
    }

    exports(body) {
        for (const node of body) {
            if (node.type === 'ExportDefaultDeclaration')
                this.exportDefault(node);
            else if (node.type === 'ExportNamedDeclaration')
                this.exportNamed(node);
            else if (node.type === 'ExportAllDeclaration')
                this.exportAll(node);
        }
    }

    compile() {
        const { program, helper } = this, { body } = parse(program.text, options);
        const taken = takeImports(program, body.filter(n => n.type !== 'ExportAllDeclaration' && !(n.type === 'ExportNamedDeclaration' && n.source !== null)), helper);
        this.exports(body);
        noteThrows(program, body, helper);
        const sources = this.sources.length > 0 ? `const ${helper}s = [${this.sources.join(', ')}];` : '';
        const head = `(${helper}=>async () => {"use strict";${taken.run}${sources}`;
        const { body: text, rows } = program.render(0, head.length);
        return {
            run: `${head}${text}\nreturn ${helper}.seal({ __proto__: null, ${this.own.join(', ')} }, [${this.stars.join(', ')}])})`,
            map: JSON.stringify(rows), line: 1, source: program.text,
        };
    }
}

// {run, map, line, source} or {error}: a sentence. The host has these texts from its configuration, so their number is bounded.
export function moduleOf(name) {
    const known = compiled(), source = binding().modules.get(name);
    if (source === undefined)
        return null;
    if (!known.has(name)) {
        try {
            known.set(name, new Module(name, source).compile());
        } catch (e) {
            const { line, column } = new Lines(source).place(e.pos ?? 0);
            known.set(name, { error: `The module ${name} cannot be read: ${e.message.replace(/ \(\d+:\d+\)$/, '')} (line ${line}, column ${column + 1}). It is a text of this server's configuration, not of the program` });
        }
    }
    return known.get(name);
}
