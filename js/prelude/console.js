// console: each call is one line (which may hold line breaks) sent before the call returns, so that a killed pass keeps its log.
import { cut, find, freeze, global, isObject, keys, NumberFn, once, pad, text, wellFormed } from './primordials.js';
import { formatter } from './format.js';
import { here, ownStack, places } from './position.js';
import { OP_LOG, state } from './state.js';

const LOG = 0, INFO = 1, WARN = 2, ERROR = 3, DEBUG = 4;

const lines = once(() => {
    const { format } = formatter(), { readStack } = places();
    let indent = '';
    const counts = { __proto__: null }, times = { __proto__: null };

    // A symbol, and an object whose valueOf throws, are no numbers.
    const number = v => (typeof v === 'object' || typeof v === 'function' || typeof v === 'symbol' ? 'NaN' : NumberFn(v));

    // printf-like directives of a first text: %s %d %i %f %j %o %O %c %%.
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
            else if (find('sdifjoOc', kind, 0) < 0 || used >= args.length)
                out += '%' + kind;
            else if (kind === 'c')
                used++;
            else if (kind === 'd' || kind === 'i' || kind === 'f')
                out += number(args[used++]);
            else
                out += format(args[used++]);
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

    function write(level, line) {
        send(OP_LOG, level, wellFormed(indent === '' ? line : indent + line));
    }

    const say = (level, args) => write(level, compose(args, 0));
    const label = value => (value === undefined ? 'default' : text(value));

    // Rows as lines of padded cells; anything that is no list of objects is shown as it is.
    function table(data) {
        if (!isObject(data))
            return write(LOG, format(data));
        const rows = keys(data), columns = { __proto__: null }, width = { __proto__: null };
        const cell = (row, column) => {
            const v = data[row];
            if (column === '(index)')
                return row;
            if (!isObject(v))
                return column === 'value' ? format(v) : '';
            return column in v ? format(v[column]) : '';
        };
        columns['(index)'] = 1;
        for (let i = 0; i < rows.length && i < 100; i++) {
            const v = data[rows[i]], names = isObject(v) ? keys(v) : null;
            if (names === null)
                columns.value = 1;
            for (let k = 0; names !== null && k < names.length && k < 30; k++)
                columns[names[k]] = 1;
        }
        const names = keys(columns);
        const line = get => {
            let out = '';
            for (let k = 0; k < names.length; k++)
                out += (k ? ' | ' : '') + (k + 1 < names.length ? pad(get(names[k]), width[names[k]]) : get(names[k]));
            return out;
        };
        for (let k = 0; k < names.length; k++) {
            width[names[k]] = names[k].length;
            for (let i = 0; i < rows.length && i < 100; i++) {
                const n = cell(rows[i], names[k]).length;
                if (n > width[names[k]])
                    width[names[k]] = n < 60 ? n : 60;
            }
        }
        let out = line(name => name);
        for (let i = 0; i < rows.length && i < 100; i++)
            out += '\n' + line(name => cell(rows[i], name));
        return write(LOG, out + (rows.length > 100 ? `\n… ${rows.length - 100} more rows` : ''));
    }

    const dir = value => write(LOG, format(value));

    const group = args => {
        if (args.length)
            write(LOG, compose(args, 0));
        if (indent.length < 40)
            indent += '  ';
    };

    const timeEnd = name => {
        const key = label(name), since = times[key];
        write(LOG, since === undefined ? `${key}: no such timer` : `${key}: ${state.now - since} ms`);
    };

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

    return { __proto__: null, say, table, dir, trace, assert, count, countReset, group, groupEnd, time, timeEnd };
});

export function install() {
    const dir = value => lines().dir(value), group = (...args) => lines().group(args), timeEnd = name => lines().timeEnd(name);
    global.console = freeze({
        log: (...args) => lines().say(LOG, args),
        info: (...args) => lines().say(INFO, args),
        warn: (...args) => lines().say(WARN, args),
        error: (...args) => lines().say(ERROR, args),
        debug: (...args) => lines().say(DEBUG, args),
        trace: (...args) => lines().trace(args),
        assert: (condition, ...args) => lines().assert(condition, args),
        table: data => lines().table(data),
        count: name => lines().count(name),
        countReset: name => lines().countReset(name),
        groupEnd: () => lines().groupEnd(),
        time: name => lines().time(name),
        clear() {},
        dir, dirxml: dir, group, groupCollapsed: group, timeEnd, timeLog: timeEnd,
    });
}
