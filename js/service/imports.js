// import and export of other modules.
import { Refusal } from './refusal.js';

function connectorNames(bind) {
    try {
        return JSON.parse(bind).connectors.map(c => c.name).join(', ');
    } catch {
        return '';
    }
}

function noModules(what, pos, bind) {
    const names = connectorNames(bind);
    return new Refusal(`${what}: there are no modules here. ${names ? `Call a connector, which is a global: ${names}. ` : ''}`
        + 'What the language itself has (Promise, JSON, Math, Date, Intl, …), console and codemode are globals too', pos, 'no_modules');
}

// import() anywhere in the tree; a walk over plain objects, since acorn's own walker is a package of its own.
function findImport(node) {
    if (node === null || typeof node !== 'object')
        return null;
    if (node.type === 'ImportExpression')
        return node;
    for (const key in node) {
        const value = node[key];
        if (value !== null && typeof value === 'object') {
            const found = findImport(value);
            if (found !== null)
                return found;
        }
    }
    return null;
}

export function refuseModules(text, tree, bind) {
    for (const node of tree.body) {
        if (node.type === 'ImportDeclaration')
            throw noModules(`import from '${node.source.value}' is not possible`, node.start, bind);
        if (node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source !== null))
            throw noModules(`export from '${node.source.value}' is not possible`, node.start, bind);
    }
    if (text.includes('import')) {
        const found = findImport(tree);
        if (found !== null)
            throw noModules('import() is not possible', found.start, bind);
    }
}
