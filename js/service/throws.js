// A thrown text or object has no stack, so the place of a throw is noted when it happens: what is thrown goes through the prelude's
// helper on its way, in what runs and not in what is shown.
import { walk } from './parse.js';

export function noteThrows(program, body, helper) {
    if (!/\bthrow\b(?!\s*new\b)/.test(program.text))
        return;
    for (const statement of body) {
        walk(statement, node => {
            if (node.type !== 'ThrowStatement' || node.argument.type === 'NewExpression')
                return;
            const { start, end, type } = node.argument, several = type === 'SequenceExpression';
            program.only('run', p => p.around(start, end, `${helper}.at(${several ? '(' : ''}`, several ? '))' : ')'));
        });
    }
}

// A name that the program does not have. One that finds it all the same, by eval, has gained nothing: the helper loads modules as
// import does, and notes the place of what is thrown, which is told as the place of this program's own failure.
export function helperName(text) {
    let name = '$cm';
    while (text.includes(name))
        name += '_';
    return name;
}
