// codemode.run: saved programs. The host gives the text of one; the service realm makes a function of it, which runs here, in the
// program's own realm and with what the program has, as a step does.
import { decode, encode, encodeThrown } from './codec.js';
import { errors } from './errors.js';
import { helper } from './modules.js';
import { define, isError, isObject, keys, once, own, parse, PromiseFn, stringify } from './primordials.js';
import { revival } from './revive.js';
import { OP_SNIPPET, state } from './state.js';

export const snippets = once(() => {
    // [name] or [name, input]: {json, marks}. Encoded alone, so that a message names what is wrong in it as input.x.
    function encodeArguments(name, input) {
        const { json, marks } = encode(input, 'input', false, 'pass data instead');
        let moved = '';
        if (marks !== '') {
            const kinds = parse(marks), pointers = keys(kinds);
            for (let i = 0; i < pointers.length; i++)
                moved += (i ? ',' : '{') + stringify('/1' + pointers[i]) + ':' + stringify(kinds[pointers[i]]);
        }
        return { __proto__: null, json: '[' + stringify(name) + (json === '' ? '' : ',' + json) + ']', marks: moved === '' ? '' : moved + '}' };
    }

    const withMessage = (e, message) => {
        define(e, 'message', message, false, true);
        return e;
    };

    // What it threw as an error that says where: of the text, which its caller does not see.
    function named(thrown, name) {
        const { d, place } = errors().told(thrown), quoted = stringify(name);
        const where = place !== null && place.module === 'snippet:' + name ? `(line ${place.line} of snippet ${quoted})` : `(in snippet ${quoted})`;
        if (isObject(thrown) && isError(thrown)) {
            const { json, marks } = encodeThrown(thrown, 'snippet error'), copy = decode(json, marks);
            return withMessage(copy, `${d.message} ${where}`);
        }
        return revival().makeError({ __proto__: null, name: d.name, message: `${d.message} ${where}`, ...(d.code === undefined ? {} : { code: d.code }) });
    }

    function refused(json, name) {
        const { error } = parse(json);
        return revival().makeError({ __proto__: null, name: 'SyntaxError', code: 'syntax',
                                   message: `${error.message} (line ${error.line} of snippet ${stringify(name)})` });
    }

    // `json`: [code] or [code, input], from the host.
    async function run(name, json, marks) {
        const given = decode(json, marks), input = own(given, '1'), made = send(OP_SNIPPET, name, given[0]);
        if (typeof made === 'string')
            throw refused(made, name);
        try {
            const value = made(helper(''))(input)(input);
            // An await asks for it, and the program may have changed what it would inherit.
            if (isObject(value) && value instanceof PromiseFn)
                define(value, 'constructor', PromiseFn, false, true);
            return await value;
        } catch (e) {
            throw named(e, name);
        }
    }

    function start(name, json, marks) {
        const promise = run(name, json, marks);
        define(promise, 'constructor', PromiseFn, false, true);
        return promise;
    }

    return { __proto__: null, encodeArguments, run: start };
});
