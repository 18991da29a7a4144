// Places in a text, and texts that are changed without losing them.

// Text of the same length and lines, all blank.
export const blank = text => text.replace(/[^\r\n\u2028\u2029]/g, ' ');

export const keepOnly = (text, start, end) => blank(text.slice(0, start)) + text.slice(start, end) + blank(text.slice(end));

// {line, column} of an offset; lines from 1, columns from 0.
export const place = (text, pos) => {
    let line = 1, start = 0;
    for (const m of text.slice(0, pos).matchAll(/\r\n|[\r\n\u2028\u2029]/g)) {
        line++;
        start = m.index + m[0].length;
    }
    return { line, column: pos - start };
};

// The same for many places of one text: the lines are looked for once.
export class Lines {
    constructor(text) {
        this.starts = [0];
        for (const m of text.matchAll(/\r\n|[\r\n\u2028\u2029]/g))
            this.starts.push(m.index + m[0].length);
    }

    place(pos) {
        let low = 0, high = this.starts.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.starts[middle] <= pos)
                low = middle;
            else
                high = middle - 1;
        }
        return { line: low + 1, column: pos - this.starts[low] };
    }
}

// A row [line, column, shift] says that in this line everything from this column on stands `shift` further to the right than in the
// text before. Rows are in the order of the text, and their columns are those of the text after.

// The rows of two changes, one after the other, as those of one.
export function compose(first, second) {
    if (first.length === 0 || second.length === 0)
        return first.length === 0 ? second : first;
    const rows = [];
    let i = 0, line = 0, shift = 0, least = 0;
    for (const row of [...second, [Infinity, 0, 0]]) {
        // `first` counts in the text between the two: what the second inserted in this line before it moves it on. What stood in a part
        // that the second took away is at the place of that.
        for (; i < first.length; i++) {
            const [at, column, by] = first[i], moved = at === line ? Math.max(column + shift, least) : column;
            if (at > row[0] || (at === row[0] && moved >= row[1]))
                break;
            rows.push([at, moved, by]);
        }
        if (row[0] !== line) {
            line = row[0];
            shift = 0;
        }
        shift += row[2];
        least = row[1];
        if (line !== Infinity)
            rows.push(row);
    }
    return rows;
}

// An offset of the text after as one of the text before.
export function back(after, before, rows, pos) {
    if (rows.length === 0)
        return pos;
    const { line, column } = place(after, pos);
    let shift = 0;
    for (const row of rows) {
        if (row[0] === line && column >= row[1])
            shift += row[2];
    }
    const { starts } = new Lines(before);
    const start = starts[Math.min(line, starts.length) - 1];
    const end = line < starts.length ? starts[line] : before.length;
    return Math.max(start, Math.min(end, start + column - shift));
}

// {text, rows} with each of the [from, to, replacement] put in, all of them inside of lines and in order.
export function replace(text, replacements) {
    const lines = new Lines(text), rows = [];
    let out = '', at = 0, line = 0, shift = 0;
    for (const [from, to, by] of replacements) {
        const p = lines.place(from), change = by.length - (to - from);
        if (p.line !== line) {
            line = p.line;
            shift = 0;
        }
        out += text.slice(at, from) + by;
        at = to;
        if (change !== 0)
            rows.push([line, p.column + shift + Math.min(by.length, to - from), change]);
        shift += change;
    }
    return { text: out + text.slice(at), rows };
}
