// `make load`: the load (tests/load/load.h) with its store on the disk, and a look at what is left there.
//
//   node tests/load/run.mjs [SECONDS] [KEY=VALUE…]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const build = resolve(root, process.env.CODEMODE_BUILD ?? 'build/default');

/** What is wrong with a store that nobody uses any more; nothing may be under way in it. */
export function storeProblems(file) {
  const checked = spawnSync(join(build, 'tests/unit/store_check'), [file], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (checked.status !== 0) return [`store_check: ${checked.error?.message ?? checked.stderr}`];
  const store = JSON.parse(checked.stdout);
  const open = (row) => ['running', 'paused'].includes(row.state);
  const unsettled = (call) => ['pending', 'executing'].includes(call.state);
  return [
    ...(store.integrity === 'ok' ? [] : [`the store: ${store.integrity}`]),
    ...(store.foreign === 0 ? [] : [`the store has ${store.foreign} rows that belong to nothing`]),
    ...(store.executions.length > 0 ? [] : ['the store has no executions']),
    ...store.executions.filter(open).map((row) => `${row.id} is ${row.state}`),
    ...store.calls.filter(unsettled).map((call) => `call ${call.seq} of ${call.id} is ${call.state}`),
  ];
}

/** Run the load on a store in a new folder. `problems`: what its store has at the end; what else does not hold is in its status and stderr. */
export async function load(args, { stdio = 'pipe', env = process.env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cm-load-'));
  const file = join(folder, 'codemode.db');
  try {
    const worker = env.CODEMODE_WORKER ?? join(build, 'src/worker/codemode-worker');
    const programs = join(root, 'tests/cases/load');
    const child = spawn(join(build, 'tests/load/load'), [`store=sqlite:${file}`, `programs=${programs}`, ...args], { stdio, env: { ...env, CODEMODE_WORKER: worker } });
    const out = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name]?.setEncoding('utf8').on('data', (text) => (out[name] += text));
    const [status, signal] = await once(child, 'close');
    return { status, signal, ...out, problems: status === 2 || signal ? [] : storeProblems(file) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { status, signal, problems } = await load(process.argv.slice(2), { stdio: 'inherit' });
  for (const problem of problems) console.error(`load: ${problem}`);
  if (signal) console.error(`load: ended by ${signal}`);
  process.exitCode = status || (signal || problems.length > 0 ? 1 : 0);
}
