// console: each call is one line (which may hold line breaks) sent before the call returns, so that a killed pass keeps its log.
import {
    apply, cut, find, freeze, functionText, global, has, isArray, isObject, keys, mapForEach, mapSize, NumberFn, once, own, ownData, pad, parseFloat, parseInt,
    setForEach, setSize, stringify, text, wellFormed,
} from './primordials.js';
import { formatter } from './format.js';
import { here, ownStack, places } from './position.js';
import { OP_LOG, state } from './state.js';

const LOG = 0, INFO = 1, WARN = 2, ERROR = 3, DEBUG = 4;
const MAX_ROWS = 100, MAX_COLUMNS = 30, MAX_CELL = 60;

const lines = once(() => {
    const { behind, format, hasOwnText, inspect } = formatter(), { readStack } = places();
    let indent = '';
    const counts = { __proto__: null }, times = { __proto__: null };

    function indented(line) {
        let out = indent, at = 0;
        for (let next = find(line, '\n', 0); next >= 0; next = find(line, '\n', at)) {
            out += cut(line, at, next + 1) + indent;
            at = next + 1;
        }
        return out + cut(line, at);
    }

    function write(level, line) {
        send(OP_LOG, level, wellFormed(indent === '' ? line : indented(line)));
    }

    /* ---- directives of a first text: %s %d %i %f %j %o %O %c %% ---- */

    const isThing = v => isObject(v) || typeof v === 'function';

    // A symbol is no number, and what valueOf throws is nobody's business.
    function number(v, of) {
        if (typeof v === 'symbol')
            return 'NaN';
        try {
            return inspect(of(v));
        } catch {
            return 'NaN';
        }
    }

    const asNumber = v => (typeof v === 'bigint' ? v : NumberFn(v));
    const asInteger = v => (typeof v === 'bigint' ? v : isThing(v) ? NaN : parseInt(v));

    // As text: by the program's own toString where there is one.
    function asText(v) {
        if (typeof v === 'string')
            return v;
        if (typeof v === 'function')
            return format(apply(functionText, v, []));
        return isObject(v) && hasOwnText(v) ? format(text(v)) : inspect(v, 0);
    }

    function asJson(v) {
        try {
            return stringify(v) || 'undefined';
        } catch {
            return inspect(v); // a cycle, or a getter that throws
        }
    }

    function directive(kind, v) {
        switch (kind) {
        case 's': return asText(v);
        case 'd': return number(v, asNumber);
        case 'i': return number(v, asInteger);
        case 'f': return number(v, parseFloat);
        case 'j': return asJson(v);
        case 'c': return '';
        default: return inspect(v);
        }
    }

    function directives(args) {
        const first = args[0];
        let out = '', used = 1, at = 0;
        for (;;) {
            const next = find(first, '%', at);
            if (next < 0 || next + 1 >= first.length)
                return { __proto__: null, out: out + cut(first, at), used };
            const kind = first[next + 1];
            out += cut(first, at, next);
            at = next + 2;
            if (kind === '%')
                out += '%';
            else if (find('sdifjoOc', kind, 0) < 0 || used >= args.length) {
                // What is no directive is text, and may stand before one.
                out += '%';
                at--;
            } else
                out += directive(kind, args[used++]);
        }
    }

    function compose(args, from) {
        let out = '', at = from;
        if (from === 0 && args.length > 1 && typeof args[0] === 'string' && find(args[0], '%', 0) >= 0) {
            const { out: head, used } = directives(args);
            out = head;
            at = used;
            if (at < args.length)
                out += ' ';
        }
        for (let i = at; i < args.length; i++)
            out += (i > at ? ' ' : '') + format(args[i]);
        return out;
    }

    const say = (level, args) => write(level, compose(args, 0));
    const label = value => (value === undefined ? 'default' : text(value));

    /* ---- tables: rows as lines of padded cells, separated as in Markdown ---- */

    function cellText(v) {
        let s = typeof v === 'string' ? v : inspect(v, 1), out = '';
        // One row is one line.
        for (let at = find(s, '\n', 0); at >= 0; at = find(s, '\n', 0)) {
            out += cut(s, 0, at) + ' ';
            s = cut(s, at + 1);
            while (s[0] === ' ')
                s = cut(s, 1);
        }
        out += s;
        return out.length > MAX_CELL ? cut(out, 0, MAX_CELL - 1) + '…' : out;
    }

    const rowsOf = () => ({ __proto__: null, n: 0, index: '(index)' });
    const addRow = (rows, key, value) => {
        if (rows.n < MAX_ROWS)
            rows[rows.n] = { __proto__: null, key, value: isThing(value) ? behind(value) : value };
        rows.n++;
    };
    const sized = (getter, v) => {
        try {
            return apply(getter, v, []);
        } catch {
            return undefined;
        }
    };

    function readRows(data) {
        const rows = rowsOf();
        if (!isArray(data) && sized(mapSize, data) !== undefined)
            apply(mapForEach, data, [(value, key) => addRow(rows, rows.n < MAX_ROWS ? cellText(key) : '', value)]);
        else if (!isArray(data) && sized(setSize, data) !== undefined)
            apply(setForEach, data, [value => addRow(rows, '' + rows.n, value)]);
        else {
            const names = keys(data);
            for (let i = 0; i < names.length; i++)
                addRow(rows, names[i], i < MAX_ROWS ? ownData(data, names[i]) : undefined);
        }
        return rows;
    }

    // Names of columns by the number of their place; `only` is what the program asked for.
    function readColumns(rows, shown, only) {
        const columns = { __proto__: null, n: 0, values: false }, seen = { __proto__: null };
        const column = name => {
            if (seen[name] || columns.n === MAX_COLUMNS)
                return;
            seen[name] = true;
            columns[columns.n++] = name;
        };
        for (let i = 0; only !== null && i < only.length; i++)
            column(text(only[i]));
        for (let i = 0; i < shown; i++) {
            const { value } = rows[i];
            if (!isThing(value)) {
                columns.values = true;
                continue;
            }
            const names = only === null ? keys(value) : [];
            for (let k = 0; k < names.length && k < MAX_COLUMNS; k++)
                column(names[k]);
        }
        return columns;
    }

    // The cells of one row, in order: index, columns, value.
    function cells(row, columns) {
        const out = { __proto__: null, n: columns.n + (columns.values ? 2 : 1) };
        out[0] = row.key;
        for (let k = 0; k < columns.n; k++)
            out[k + 1] = isThing(row.value) && has(row.value, columns[k]) ? cellText(ownData(row.value, columns[k])) : '';
        if (columns.values)
            out[columns.n + 1] = isThing(row.value) ? '' : cellText(row.value);
        return out;
    }

    function drawTable(data, only) {
        const rows = readRows(data), shown = rows.n < MAX_ROWS ? rows.n : MAX_ROWS;
        const columns = readColumns(rows, shown, only), head = { __proto__: null, n: columns.n + (columns.values ? 2 : 1) }, width = { __proto__: null };
        head[0] = rows.index;
        for (let k = 0; k < columns.n; k++)
            head[k + 1] = cut(columns[k], 0, MAX_CELL);
        if (columns.values)
            head[columns.n + 1] = 'Values';
        const all = { __proto__: null };
        for (let i = -1; i < shown; i++) {
            const row = i < 0 ? head : cells(rows[i], columns);
            all[i] = row;
            for (let k = 0; k < head.n; k++)
                width[k] = width[k] === undefined || row[k].length > width[k] ? row[k].length : width[k];
        }
        let out = '';
        for (let i = -1; i < shown; i++) {
            out += i < 0 ? '' : '\n';
            for (let k = 0; k < head.n; k++)
                out += (k ? ' | ' : '') + (k + 1 < head.n ? pad(all[i][k], width[k]) : all[i][k]);
        }
        return out + (rows.n > shown ? `\n… ${rows.n - shown} more rows` : '');
    }

    // What is no list of rows is shown as it is.
    function table(data, only) {
        if (!isObject(data))
            return say(LOG, [data]);
        let out;
        try {
            out = drawTable(behind(data), isArray(only) ? only : null);
        } catch {
            out = inspect(data); // a revoked proxy
        }
        return write(LOG, out);
    }

    /* ---- the rest ---- */

    function dir(value, options) {
        const depth = isObject(options) ? own(options, 'depth') : undefined;
        write(LOG, inspect(value, typeof depth === 'number' ? depth : depth === null ? 20 : undefined));
    }

    const group = args => {
        if (args.length)
            write(LOG, compose(args, 0));
        if (indent.length < 40)
            indent += '  ';
    };

    function timeLog(name, args, ends) {
        const key = label(name), since = times[key];
        if (since === undefined)
            return write(WARN, `${key}: no such timer; console.time(${stringify(key)}) starts one`);
        if (ends)
            delete times[key];
        return write(LOG, `${key}: ${state.now - since} ms` + (args.length ? ' ' + compose(args, 0) : ''));
    }

    const trace = args => {
        const place = readStack(ownStack(here()));
        write(LOG, 'Trace' + (args.length ? ': ' + compose(args, 0) : '') + (place === null ? '' : '\n' + place.stack));
    };

    const assert = (condition, args) => {
        if (!condition)
            write(ERROR, 'Assertion failed' + (args.length ? ': ' + compose(args, 0) : ''));
    };

    const count = name => {
        const key = label(name);
        counts[key] = (counts[key] || 0) + 1;
        write(LOG, `${key}: ${counts[key]}`);
    };

    const countReset = name => {
        counts[label(name)] = 0;
    };

    const groupEnd = () => {
        indent = cut(indent, 2);
    };

    const time = name => {
        times[label(name)] = state.now;
    };

    return { __proto__: null, say, table, dir, trace, assert, count, countReset, group, groupEnd, time, timeLog };
});

export function install() {
    const dir = (value, options) => lines().dir(value, options), group = (...args) => lines().group(args);
    const log = (...args) => lines().say(LOG, args), nothing = () => {};
    global.console = freeze({
        log, dirxml: log,
        info: (...args) => lines().say(INFO, args),
        warn: (...args) => lines().say(WARN, args),
        error: (...args) => lines().say(ERROR, args),
        debug: (...args) => lines().say(DEBUG, args),
        trace: (...args) => lines().trace(args),
        assert: (condition, ...args) => lines().assert(condition, args),
        table: (data, columns) => lines().table(data, columns),
        count: name => lines().count(name),
        countReset: name => lines().countReset(name),
        groupEnd: () => lines().groupEnd(),
        time: name => lines().time(name),
        timeEnd: name => lines().timeLog(name, [], true),
        timeLog: (name, ...args) => lines().timeLog(name, args, false),
        clear: nothing, profile: nothing, profileEnd: nothing, timeStamp: nothing,
        dir, group, groupCollapsed: group,
    });
}
