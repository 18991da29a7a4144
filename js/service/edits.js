// What is inserted into a program, and blanked in it, on its way to a function.
import { blank, Lines } from './text.js';

// At one place what closes comes before what opens; of what opens there the outer first, of what closes there the inner first.
const CLOSES = 0, OPENS = 1;

function order(a, b) {
    return a.at - b.at || a.side - b.side || a.reach - b.reach || (a.side === OPENS ? a.n - b.n : b.n - a.n);
}

export class Program {
    constructor(text, input) {
        this.text = text;
        this.edits = [];
        this.call = input ? '(input)' : '()';
        this.own = input === 'own' ? '(input)=>' : '';
        this.end = text.length;
        this.views = false;
    }

    // `before` and `after` around [start, end). Made later around the same range, it stands inside.
    around(start, end, before, after) {
        const n = this.edits.length, joins = /^[\w$]/.test(before) && /[\w$]/.test(this.text.charAt(start - 1));
        // A word behind a word, as in throw'x', would be one with it.
        if (before)
            this.edits.push({ at: start, to: start, text: joins ? ' ' + before : before, side: OPENS, reach: -end, n });
        if (after)
            this.edits.push({ at: end, to: end, text: after, side: CLOSES, reach: -start, n });
    }

    // Behind everything that closes there.
    append(at, text) {
        this.edits.push({ at, to: at, text, side: CLOSES, reach: 1, n: this.edits.length });
    }

    // Only ever inside a line or over blanks: what is removed is blanked, so no column moves.
    remove(at, to) {
        this.replace(at, to, blank(this.text.slice(at, to)));
    }

    // A whole statement. Where what stands below it could go on with the line above, or is a text that would be a directive, its end stays.
    removeStatement(node) {
        const goesOn = /^\s*[([`/+'"-]/.test(this.text.slice(node.end, node.end + 200));
        this.replace(node.start, node.end, (goesOn ? ';' : '') + blank(this.text.slice(node.start, node.end)).slice(goesOn ? 1 : 0));
    }

    // Inside of a line, when the length changes. What is inserted at its start stands before it.
    replace(at, to, text) {
        this.edits.push({ at, to, text, side: OPENS, reach: Infinity, n: this.edits.length });
    }

    // What stands in the program in one view only: 'shown', as it is printed, or 'run'.
    only(view, make) {
        const n = this.edits.length;
        make(this);
        for (let i = n; i < this.edits.length; i++)
            this.edits[i].view = view;
        this.views = true;
    }

    // Before a statement of ours, which would become a name that `let` declares: a name alone as it is, it is a statement in old code.
    endLet(before) {
        if (before !== undefined && /\blet$/.test(this.text.slice(before.start, before.end)))
            this.append(before.end, ';');
    }

    // Call a function that was declared, last of all.
    callAfter(name, at = this.end, collect = null) {
        const call = `${name}${this.call}`;
        this.append(at, `\nreturn ${collect === null ? call : collect(call)};`);
        this.end = at;
    }

    // Make [start, end) the result; `called` when it is a function to be called. Everything after it goes, unless `keepRest`.
    yield(start, end, called, keepRest) {
        this.around(start, end, 'return (', ')' + (called ? this.call : ''));
        if (!keepRest)
            this.end = end;
    }

    // {body, rows}: the edited text from `start`. The wrapper's head is `prefix` longer than what stood before it in its line.
    render(start, prefix, view = 'run') {
        const lines = new Lines(this.text), rows = prefix ? [[lines.place(start).line, 0, prefix]] : [];
        let out = '', at = start, line = lines.place(start).line, shift = prefix;
        for (const edit of this.edits.sort(order)) {
            if (edit.at > this.end || edit.at < at || (edit.view !== undefined && edit.view !== view))
                continue;
            out += this.text.slice(at, edit.at) + edit.text;
            at = edit.to;
            const longer = edit.text.length - (edit.to - edit.at);
            if (longer === 0)
                continue;
            const p = lines.place(edit.at);
            if (p.line !== line) {
                line = p.line;
                shift = 0;
            }
            rows.push([line, p.column + shift, longer]);
            shift += longer;
        }
        return { body: out + this.text.slice(at, Math.max(at, this.end)), rows };
    }
}
