// What is measured from outside: whole commands, a served process, a large store. A subject is {name, run, end}: run() does the work once
// and throws when its answer is wrong, end() releases what was started.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function expect(name, answer, expected) {
  if (answer !== expected) throw new Error(`${name} answered ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`);
}

/** One command from start to end: its answer is what it printed. */
function command({ home, env }, name, [program, ...args], expected) {
  const run = () => {
    const r = spawnSync(program, args, { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    if (r.error) throw new Error(`${name}: ${r.error.message}`);
    if (r.status !== 0) throw new Error(`${name}: status ${r.status}: ${r.stderr.trim()}`);
    expect(name, r.stdout.trim(), expected);
  };
  return { name, run };
}

/** A program that serves MCP on its standard streams, in a state folder of its own. */
function serve({ home, env }, { codemode, worker }, config = {}) {
  const state = mkdtempSync(join(home, 'state-'));
  const path = join(state, 'codemode.json');
  writeFileSync(path, JSON.stringify({ codemode: config }));
  const child = spawn(codemode, ['serve', '--config', path], { env: { ...env, CODEMODE_WORKER: worker, XDG_STATE_HOME: state }, stdio: ['pipe', 'pipe', 'ignore'] });
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
  const end = async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(state, { recursive: true });
  };
  const initialize = () => request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  const run = async (code, expected) => {
    const { result } = await request('tools/call', { name: 'codemode', arguments: { code } });
    if (result.structuredContent?.status !== 'completed') throw new Error(JSON.stringify(result));
    expect('codemode serve', String(result.structuredContent.result), expected);
  };
  return { initialize, run, end };
}

/** A served process from its start: until it has answered for the first time, and until the result of the first program. */
function firstAnswer(context, name, programs, code) {
  let server;
  const run = async () => {
    server = serve(context, programs);
    await server.initialize();
    if (code) await server.run(code, '1');
  };
  return { name, run, after: () => server.end() };
}

export function commands(context) {
  const { codemode, base, peerNode } = context;
  return [
    command(context, 'codemode run -e 1', [codemode, 'run', '-e', '1'], '1'),
    ...(base ? [command({ ...context, env: { ...context.env, CODEMODE_WORKER: base.worker, XDG_STATE_HOME: join(context.home, 'other') } }, 'codemode run -e 1, the other build', [base.codemode, 'run', '-e', '1'], '1')] : []),
    command(context, `node -p 1, ${process.version}`, [process.execPath, '-p', '1'], '1'),
    ...(peerNode ? [command(context, "node -p 1, the peers' Node", [peerNode, '-p', '1'], '1')] : []),
    firstAnswer(context, 'codemode serve, to its first answer', context),
    firstAnswer(context, 'codemode serve, to the first result', context, 'return 1'),
  ];
}

/**
 * One program in a served process that has run others: its worker is warm, and what is measured is a fresh realm, the log with what it
 * waits for, and the deliveries.
 */
export const served = (code, expected, config) => async (context) => {
  const subject = async (name, programs) => {
    const server = serve(context, programs, config);
    await server.initialize();
    return { name, run: () => server.run(code, expected), end: () => server.end() };
  };
  return [await subject('codemode serve', context), ...(context.base ? [await subject('codemode serve, the other build', context.base)] : [])];
};

/** What is asked of a store with a million calls: by the functions of the store, and by commands from start to end. */
export async function largeStore(context) {
  const file = join(context.home, 'large.db');
  const made = spawnSync(join(context.build, 'bench/store_scale'), [file], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`store_scale: ${made.error?.message ?? made.stderr}`);
  const { bytes, executions, calls, rows } = JSON.parse(made.stdout);
  console.log(`  ${executions} executions, ${calls} calls, ${(bytes / 2 ** 20).toFixed(0)} MiB, ${(bytes / calls).toFixed(0)} bytes a call`);
  const config = join(context.home, 'large.json');
  writeFileSync(config, JSON.stringify({ codemode: { store: `sqlite:${file}` } }));
  for (const args of [['executions', '--json'], ['pending', '--json']]) {
    const run = () => spawnSync(context.codemode, [...args, '--config', config], { env: context.env, encoding: 'utf8', maxBuffer: 1 << 28 });
    if (run().status !== 0) throw new Error(`codemode ${args[0]}: ${run().stderr}`);
    const samples = Array.from({ length: 10 }, () => {
      const before = process.hrtime.bigint();
      run();
      return Number(process.hrtime.bigint() - before) / 1e6;
    });
    rows.push({ what: `codemode ${args[0]}, from start to end`, samples });
  }
  rmSync(file);
  const reference = await context.drivers.get('reference')?.ask({ w: 'W12', runs: 1, opts: { durable: 1 } });
  return [...rows, ...(reference?.rows ?? []).map((row) => ({ ...row, what: `the reference: ${row.what}` }))].map(({ what, samples }) => ({ subject: what, samples }));
}
