// The workloads as rows: {name, what, answer, runs, subjects}. A subject is a function of the context {codemode, home, root, env}
// that returns {name, run, end}: run() does the work once and returns its answer, end() releases what was started. The first
// subject is what the others are compared with.
import { spawnSync } from 'node:child_process';

/** A subject that is one command from start to end: its answer is what it printed. */
function command(name, argv) {
  return (context) => {
    const [program, ...args] = argv(context);
    const run = () => {
      const r = spawnSync(program, args, { cwd: context.home, env: context.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
      if (r.error) throw new Error(`${name}: ${r.error.message}`);
      if (r.status !== 0) throw new Error(`${name}: status ${r.status}: ${r.stderr.trim()}`);
      return r.stdout.trim();
    };
    return { name, run };
  };
}

const codemode = (code) => command('codemode run', (c) => [c.codemode, 'run', '-e', code]);
const node = (code) => command('node', () => [process.execPath, '-p', code]);

const sorting = `const list = Array.from({ length: 100000 }, (_, i) => ({ id: (i * 7919) % 100003, name: 'item ' + i }));
  list.sort((a, b) => a.id - b.id);
  return JSON.parse(JSON.stringify(list)).length;`;

export const workloads = [
  {
    name: 'start',
    what: 'the smallest program from a cold start, process and sandbox included',
    answer: '1',
    subjects: [codemode('1'), node('1')],
  },
  {
    name: 'sort',
    what: '100,000 objects made, sorted, written as JSON and read again, from a cold start',
    answer: '100000',
    runs: 10,
    subjects: [codemode(sorting), node(`(() => {${sorting}})()`)],
  },
];
