// The programs of this folder and what becomes of them. See README.md for the keys.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MANY = new Set(['failed', 'not', 'warns', 'log', 'call', 'shows']);
const ONE = new Set(['result', 'nothing', 'text', 'name', 'code', 'line', 'column', 'source', 'status', 'input', 'limits', 'oracle', 'logs', 'unwarned']);

/** ‹U+00A0› stands for that character, so that what cannot be seen can be read; ⏎ in a value for a line break. */
const characters = (text) => text.replace(/‹U\+([0-9A-F]{4,6})›/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16)));

function addKey(row, line, where) {
  const [, key, value = ''] = /^--- (\S+) ?(.*)$/.exec(line) ?? [];
  const said = value.replaceAll('⏎', '\n');
  if (MANY.has(key))
    (row[key] ??= []).push(said);
  else if (ONE.has(key) && !(key in row))
    row[key] = said;
  else
    throw new Error(`${where}: '${line}' is no key, or the second one of its kind`);
}

/** [{title, file, program, …keys}]: keys that may come several times are lists. */
export function readCases(folder) {
  const rows = [];
  for (const file of readdirSync(folder).filter((f) => f.endsWith('.txt')).sort()) {
    let row = null;
    readFileSync(join(folder, file), 'utf8').split('\n').forEach((line, i) => {
      if (line.startsWith('=== ')) {
        row = { title: line.slice(4), file, program: '', lines: [] };
        rows.push(row);
      } else if (line.startsWith('--- ')) {
        addKey(row, line, `${file}:${i + 1}`);
      } else if (row) {
        row.lines.push(line);
      }
    });
  }
  for (const row of rows) {
    if (row.lines.at(-1) === '')
      row.lines.pop();
    row.program = characters(row.lines.join('\n').replaceAll('‹CR›', '\r'));
    delete row.lines;
  }
  return rows;
}
