// Places in a text.

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

export function lineText(text, pos) {
    const { column } = place(text, pos), rest = text.slice(pos).search(/[\r\n\u2028\u2029]/);
    return text.slice(pos - column, rest < 0 ? text.length : pos + rest).trim().slice(0, 200);
}
