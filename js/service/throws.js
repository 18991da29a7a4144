// What is thrown and what is caught goes through the prelude's helper, in what runs and not in what is shown. A thrown text or object
// has no stack, so the place of a throw is noted when it happens; the same of what a promise is rejected with. What is caught may be an
// error in the engine's own words.
import { isFunction, walk } from './parse.js';

const WORTH = /\bthrow\b(?!\s*new\b)|\bcatch\b|\bPromise\b|\bthen\b/;

export function noteThrows(program, body, helper) {
    if (!WORTH.test(program.text))
        return;
    const rejecters = new Set();
    for (const statement of body) {
        walk(statement, node => {
            if (node.type === 'ThrowStatement')
                noteThrow(program, node.argument, helper);
            else if (node.type === 'CatchClause')
                noteCaught(program, node.param, node.body, helper);
            else if (isPromise(node) && node.arguments[0]?.params?.[1]?.type === 'Identifier')
                rejecters.add(node.arguments[0].params[1].name);
            else if (node.type === 'CallExpression')
                noteCall(program, node, rejecters, helper);
        });
    }
}

const isPromise = node => node.type === 'NewExpression' && node.callee.name === 'Promise';

function noteThrow(program, { start, end, type }, helper) {
    const several = type === 'SequenceExpression';
    if (type !== 'NewExpression')
        program.only('run', p => p.around(start, end, `${helper}.at(${several ? '(' : ''}`, several ? '))' : ')'));
}

// `catch (e) {…}`, and the function that p.catch and p.then call; of use only where the error is.
function noteCaught(program, param, body, helper) {
    if (param?.type !== 'Identifier' || !uses(body, param.name))
        return;
    const note = `${helper}.caught(${param.name})`;
    if (body.type !== 'BlockStatement')
        program.only('run', p => p.around(body.start, body.end, `(${note}, `, ')'));
    else if (body.body[0]?.directive === undefined)
        program.only('run', p => p.append(body.start + 1, `${note};`));
}

function uses(body, name) {
    let found = false;
    walk(body, node => { found ||= node.type === 'Identifier' && node.name === name; });
    return found;
}

function noteCall(program, { callee, arguments: args }, rejecters, helper) {
    const method = callee.type === 'MemberExpression' && !callee.computed ? callee.property.name : '';
    const handler = method === 'catch' ? args[0] : method === 'then' ? args[1] : undefined;
    if (handler !== undefined && isFunction(handler) && !handler.generator)
        noteCaught(program, handler.params[0], handler.body, helper);
    if (args.length === 1 && args[0].type !== 'SpreadElement'
        && ((method === 'reject' && callee.object.name === 'Promise') || (callee.type === 'Identifier' && rejecters.has(callee.name))))
        noteThrow(program, args[0], helper);
}

// A name that the program does not have. One that finds it all the same, by eval, has gained nothing: the helper loads modules as
// import does, and notes the place of what is thrown, which is told as the place of this program's own failure.
export function helperName(text) {
    let name = '$cm';
    while (text.includes(name))
        name += '_';
    return name;
}
