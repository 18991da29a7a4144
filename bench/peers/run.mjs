// run: QuickJS in a pool of worker threads, a fresh context for each program.
import { createRunner, getHostFunctionContext, setMaxWorkers } from 'run';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeTools, untilApproval } from './programs.mjs';
import { check } from './workloads.mjs';

const { version } = JSON.parse(readFileSync(new URL('node_modules/run/package.json', import.meta.url), 'utf8'));
const MAX_WORKERS = 128; // it refuses what goes beyond; by default beyond 32
const bounds = { maxBridgeRequests: 100000, maxInFlightBridgeRequests: 1000, memoryLimitBytes: 128 * 2 ** 20, timeoutMs: 120000 };

/** It has no log of its own: a pause gives its caller a signed text with what was called, to be kept by the caller. */
function ask(args) {
  const { interrupt, resume } = getHostFunctionContext();
  if (resume === undefined) interrupt({});
  return args;
}

export function open() {
  const { tools, ...held } = makeTools({ rowsAsText: false });
  setMaxWorkers(MAX_WORKERS);
  const runner = createRunner({ limits: bounds, continuationSecret: randomBytes(32) });
  const hostFunctions = { bench: { ...tools, ask } };

  async function run(code, { cpuMs, memoryMb }) {
    const limits = { ...(cpuMs && { timeoutMs: cpuMs }), ...(memoryMb && { memoryLimitBytes: memoryMb * 2 ** 20 }) };
    const outcome = await runner.run({ source: code, hostFunctions, limits });
    check(outcome.status, 'completed');
    return outcome.value;
  }

  /** How long it takes to the pause, and from the approval to the result, by replay. */
  async function approved({ code, answer }) {
    const from = performance.now();
    const { status, continuation, interruptions } = await runner.run({ source: code, hostFunctions });
    const paused = performance.now();
    check(status, 'interrupted');
    const resolutions = interruptions.map(({ id }) => ({ interruptionId: id, value: true }));
    const outcome = await runner.run({ source: code, hostFunctions, continuation, resolutions });
    check(outcome.value, answer);
    return { pause: paused - from, approveReplay: performance.now() - paused };
  }

  async function durable(peer, { runs, opts }) {
    const program = untilApproval(opts.part === 'replay' ? opts.calls : 11);
    const ms = [];
    for (let i = 0; i < runs; i++) ms.push((await approved(program))[opts.part === 'pause' ? 'pause' : 'approveReplay']);
    return { ms };
  }
  return { name: 'run', version, run, ...held, workloads: { W11: durable } };
}
