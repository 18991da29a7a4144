// The tables of docs/benchmarks.md from bench.json: node bench/table.mjs [BENCH.JSON] writes them between their marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { short } from './statistics.mjs';

const BEGIN = '<!-- results: written by bench/table.mjs -->';
const END = '<!-- end of results -->';

const columns = [
  ['codemode', 'codemode'],
  ['codemode, nothing logged', 'nothing logged'],
  ['isolated-vm', 'isolated-vm'],
  ['quickjs-emscripten', 'quickjs-e.'],
  ['run', 'run'],
  ['the reference', 'reference'],
  ['the reference, durable', 'durable'],
  ['node:vm, no sandbox', 'node:vm'],
];
const line = (cells) => `| ${cells.join(' | ')} |`;
const table = (head, rows) => [line(head), line(head.map((_, i) => (i ? '--:' : '---'))), ...rows.map(line)].join('\n');
const nameOf = ({ workload, what, part }) => `${workload} ${part ?? what}`;

function cell(row, unit) {
  if (!row) return '';
  if (row.skip) return row.skip.startsWith('never') ? 'never' : row.skip.startsWith('killed') || row.skip.startsWith('the process died') ? row.skip.replace('the process ', '') : '–';
  if (unit === 'rate') return row.median.toFixed(0);
  if (row.figures && !row.samples) return Object.values(row.figures).length ? short(row.figures.overMb ?? row.figures.eachMb) : '';
  return short(row.median);
}

/** Beside the others: one row for each part of a workload. */
function sideBySide(results, names, unit) {
  const chosen = results.filter((r) => names.includes(r.workload));
  const used = columns.filter(([subject]) => chosen.some((r) => r.rows.some((row) => row.subject === subject)));
  return table(['', ...used.map(([, title]) => title)], chosen.map((r) => [nameOf(r), ...used.map(([subject]) => cell(r.rows.find((row) => row.subject === subject), unit))]));
}

/** All that was measured of it: codemode's ways to isolate, and what others of the host wait while a program spins. */
const variants = (results, names) =>
  table(
    ['', 'median', 'p95', 'CPU'],
    results
      .filter((r) => names.includes(r.workload))
      .flatMap((r) => r.rows.filter((row) => row.samples && (row.subject.startsWith('codemode') || row.subject.endsWith('after a pause'))).map((row) => [`${nameOf(r)}: ${row.subject}`, short(row.median), short(row.p95), short(row.cpuMs)])),
  );

const alone = (results, name) => table(['', 'median', 'p95'], results.filter((r) => r.workload === name).flatMap((r) => r.rows.map((row) => [row.subject, short(row.median), short(row.p95)])));

const beside = (results) =>
  table(
    ['', 'one call, nobody spins', 'while somebody spins', 'p95'],
    results
      .filter((r) => r.workload === 'W7')
      .flatMap((r) => r.rows)
      .filter((row) => row.figures?.otherBeside !== undefined)
      .map(({ subject, figures: f }) => [subject, short(f.otherAlone), short(f.otherBeside), short(f.otherBesideP95)]),
  );

const hosts = (results) => table(['', 'MB for each', 'MB for the host'], results.filter((r) => r.workload === 'W9').flatMap((r) => r.rows).map((row) => (row.skip ? [row.subject, row.skip, ''] : [row.subject, short(row.figures.eachMb), short(row.figures.hostMb)])));

/** The text between the marks. */
export function tables({ at, machine, versions, results }) {
  const of = Object.entries(versions).filter(([, v]) => v).map(([, v]) => `${v.name} ${v.version}${v.workerd ? ` on workerd ${v.workerd}` : ''}`);
  return `Measured on ${at.slice(0, 10)} on ${machine.cpus} × ${machine.cpu} with ${machine.memoryGb} GB (a virtual machine), a ${machine.buildtype} build:
${of.join(', ')}.

Medians in milliseconds:

${sideBySide(results, ['W1', 'W2', 'W3', 'W4', 'W5', 'W6', 'W7', 'W11'])}

Runs per second (W10):

${sideBySide(results, ['W10'], 'rate')}

What a call of others takes while a program spins (W7), in milliseconds:

${beside(results)}

Growth beyond the limit of 64 MB (W8), in MB:

${sideBySide(results, ['W8'])}

Memory of 100 runs that wait (W9):

${hosts(results)}

codemode's own ways to run, in milliseconds, with the CPU time of all its processes (the pause is a tenth of a second in which the machine does
nothing; a first run, and a process for each, come after one as well):

${variants(results, ['W1', 'W2'])}

A large store (W12) and whole commands (W13), in milliseconds:

${alone(results, 'W12')}

${alone(results, 'W13')}
`;
}

function write(root, from) {
  const page = resolve(root, 'docs/benchmarks.md');
  const old = readFileSync(page, 'utf8');
  const [before, after] = [old.indexOf(BEGIN), old.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`docs/benchmarks.md has no '${BEGIN}' with '${END}' behind it`);
  writeFileSync(page, `${old.slice(0, before)}${BEGIN}\n${tables(JSON.parse(readFileSync(from, 'utf8')))}${old.slice(after)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(fileURLToPath(import.meta.url), '../..');
  write(root, resolve(process.argv[2] ?? resolve(root, process.env.CODEMODE_BUILD ?? 'build/default', 'bench.json')));
}
