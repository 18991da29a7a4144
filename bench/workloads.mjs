// The workloads as rows: {name, what, answer, runs, subjects}. `subjects` gives, for the context {build, codemode, worker, base, home,
// root, env}, the functions of it that make a subject {name, run, end}: run() does the work once and returns its answer, end()
// releases what was started. The first subject is what the others are compared with. A workload that measures by itself has
// measure(context) in place of these, which returns [{name, samples}].
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

/**
 * One program in a served process that has run others: its worker is warm, and what is measured is a fresh realm, the log with what it
 * waits for, and the deliveries. Of this build, and before it of the one that it is compared with.
 */
function served(code, { config = {} } = {}) {
  const subject = (name, { codemode: program, worker }) => async (context) => {
    const state = mkdtempSync(join(context.home, 'state-'));
    const path = join(state, 'codemode.json');
    writeFileSync(path, JSON.stringify({ codemode: config }));
    const child = spawn(program, ['serve', '--config', path], { env: { ...context.env, CODEMODE_WORKER: worker, XDG_STATE_HOME: state }, stdio: ['pipe', 'pipe', 'ignore'] });
    const waiting = new Map();
    let text = '';
    let id = 0;
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop();
      for (const line of lines.map((l) => JSON.parse(l))) waiting.get(line.id)?.(line);
    });
    const request = (method, params) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
      return new Promise((answered) => waiting.set(id, answered));
    };
    await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
    const run = async () => {
      const { result } = await request('tools/call', { name: 'codemode', arguments: { code } });
      if (result.structuredContent?.status !== 'completed') throw new Error(`${name}: ${JSON.stringify(result)}`);
      return String(result.structuredContent.result);
    };
    const end = async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(state, { recursive: true });
    };
    return { name, run, end };
  };
  return ({ base, codemode: program, worker }) => [...(base ? [subject('the other build', base)] : []), subject('codemode serve', { codemode: program, worker })];
}

/** What is asked of a store with a million calls: by the functions of the store, and by commands from start to end. */
async function largeStore(context) {
  const file = join(context.home, 'large.db');
  const made = spawnSync(join(context.build, 'bench/store_scale'), [file], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`store_scale: ${made.error?.message ?? made.stderr}`);
  const { bytes, executions, calls, rows } = JSON.parse(made.stdout);
  console.log(`\nlarge store: ${executions} executions, ${calls} calls, ${(bytes / 2 ** 20).toFixed(0)} MiB, ${(bytes / calls).toFixed(0)} bytes a call`);
  const config = join(context.home, 'large.json');
  writeFileSync(config, JSON.stringify({ codemode: { store: `sqlite:${file}` } }));
  for (const args of [['executions', '--json'], ['pending', '--json']]) {
    const run = () => spawnSync(context.codemode, [...args, '--config', config], { env: context.env, encoding: 'utf8', maxBuffer: 1 << 28 });
    if (run().status !== 0) continue; // a build that does not have the command
    const samples = Array.from({ length: 10 }, () => {
      const before = process.hrtime.bigint();
      run();
      return Number(process.hrtime.bigint() - before) / 1e6;
    });
    rows.push({ what: `\`codemode ${args[0]}\`, from start to end`, samples });
  }
  rmSync(file);
  return rows.map(({ what, samples }) => ({ name: what, samples }));
}

const sorting = `const list = Array.from({ length: 100000 }, (_, i) => ({ id: (i * 7919) % 100003, name: 'item ' + i }));
  list.sort((a, b) => a.id - b.id);
  return JSON.parse(JSON.stringify(list)).length;`;

export const workloads = [
  {
    name: 'start',
    what: 'the smallest program from a cold start, process and sandbox included',
    answer: '1',
    subjects: () => [codemode('1'), node('1')],
  },
  {
    name: 'sort',
    what: '100,000 objects made, sorted, written as JSON and read again, from a cold start',
    answer: '100000',
    runs: 10,
    subjects: () => [codemode(sorting), node(`(() => {${sorting}})()`)],
  },
  { name: 'run', what: 'the smallest program in a served process', answer: '1', runs: 200, subjects: served('return 1') },
  {
    name: 'log',
    what: '100 steps one after the other: each recorded, delivered, and its value used',
    answer: '4950',
    runs: 40,
    subjects: served("let sum = 0; for (let i = 0; i < 100; i++) sum += await codemode.step('s' + i, () => i); return sum"),
  },
  {
    name: 'deliveries',
    what: '100 timers at once, each delivered in its place',
    answer: '100',
    runs: 40,
    subjects: served('let n = 0; await Promise.all(Array.from({ length: 100 }, () => new Promise((r) => setTimeout(r, 0)).then(() => n++))); return n'),
  },
  {
    name: 'call',
    what: 'one call of a tool that has effects: its intent is on the disk before it is sent',
    answer: 'x',
    runs: 100,
    subjects: served('return await local.echo({})', { config: { toolsets: { local: { tools: { echo: { command: ['printf', 'x'] } } } } } }),
  },
  { name: 'large', what: 'a store with 10,000 executions and 1,000,000 calls', measure: largeStore },
];
