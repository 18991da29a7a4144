// `make check`: runs the checks of this folder two at a time and prints one line for each, more when one fails.
//
//   tools/check [NAME…]      only the named checks
//
// A check is a program `tools/checks/<name>.mjs`: it prints one finding per line (`file:line: what is wrong and what
// would be accepted`) and ends with a status other than 0 when there is any. Adding one is adding a row here.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from './tree.mjs';

const checks = [
  ['tidy', 'clang-tidy finds nothing (.clang-tidy)'], // the slowest first
  ['cppcheck', 'cppcheck finds nothing'],
  ['warnings', 'no warning from gcc or clang'],
  ['headers', 'each header compiles alone, with gcc and clang'],
  ['format', 'C sources are laid out by clang-format'],
  ['layers', 'includes follow src/LAYERS'],
  ['banned', 'no banned call'],
  ['length', 'files and functions stay short'],
  ['docs', 'commands and options are documented, links resolve'],
  ['names', 'no registry, no path of one machine, no unfinished work'],
  ['inputs', 'what the build needs, tools/setup installs; what is written, is built'],
  ['scripts', 'scripts parse'],
];

function run(name) {
  return new Promise((done) => {
    const started = Date.now();
    const script = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
    const child = spawn(process.execPath, [script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('close', (status) => done({ ok: status === 0, output: output.trimEnd(), seconds: (Date.now() - started) / 1000 }));
  });
}

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !checks.some(([known]) => known === name));
if (unknown) {
  console.error(`tools/check: no check '${unknown}'; there are ${checks.map(([name]) => name).join(', ')}`);
  process.exit(2);
}
const queue = checks.filter(([name]) => wanted.length === 0 || wanted.includes(name));
let failed = 0;
async function lane() {
  for (let row = queue.shift(); row; row = queue.shift()) {
    const [name, title] = row;
    const r = await run(name);
    failed += r.ok ? 0 : 1;
    console.log(`${r.ok ? 'ok  ' : 'FAIL'} ${name.padEnd(9)} ${title}  (${r.seconds.toFixed(1)} s)`);
    if (r.output) console.log(r.output.replace(/^/gm, '       '));
  }
}
await Promise.all([lane(), lane()]);
console.log(failed ? `${failed} check${failed > 1 ? 's' : ''} failed` : 'all checks passed');
process.exitCode = failed ? 1 : 0;
