// What is inserted into a program, and blanked in it, on its way to a function.
import { blank } from './text.js';

export class Program {
    constructor(text, input) {
        this.text = text;
        this.edits = [];
        this.call = input ? '(input)' : '()';
        this.end = text.length;
    }

    insert(at, text) {
        this.edits.push({ at, to: at, text });
    }

    remove(at, to) {
        // Only ever inside a line or over blanks: what is removed is blanked, so no column moves.
        this.edits.push({ at, to, text: blank(this.text.slice(at, to)) });
    }

    // Call a declared function, last of all.
    callAfter(declaration, name = declaration.id.name) {
        this.insert(declaration.end, `\nreturn ${name}${this.call};`);
        this.end = declaration.end;
    }

    // Make [start, end) the result; `called` when it is a function to be called. Everything after it goes.
    yield(start, end, called, keepRest) {
        this.insert(start, 'return (');
        this.insert(end, ')' + (called ? this.call : ''));
        if (!keepRest)
            this.end = end;
    }

    // {body, rows}: the edited text from `start`, and [line, column after which, length] of each insertion.
    render(start, lineOf, prefix) {
        const rows = [];
        const first = lineOf(start);
        if (prefix)
            rows.push([first.line, 0, prefix]);
        let out = '', at = start;
        for (const edit of this.edits.sort((a, b) => a.at - b.at)) {
            out += this.text.slice(at, edit.at) + edit.text;
            at = edit.to;
            if (edit.at === edit.to) {
                const place = lineOf(edit.at);
                const shift = rows.reduce((sum, row) => (row[0] === place.line ? sum + row[2] : sum), 0);
                rows.push([place.line, place.column + shift, edit.text.length]);
            }
        }
        return { body: out + this.text.slice(at, this.end), rows };
    }
}
