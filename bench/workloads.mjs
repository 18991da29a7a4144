// The workloads as rows. {name, what, parts, subjects}: `parts` are measured and printed one after the other, each {what, opts} with
// subjects of its own where they are others; `subjects` do the same work: {name, driver, opts, most}, the first being what the others are
// compared with. `unit` says what is asked for: samples in ms, a rate, or figures; `most` bounds the runs of a round; `fresh` starts a
// driver anew for each request, and `guard` ends one that grows. A workload that the harness measures by itself has local(context), the
// subjects as functions {name, run, end}, or measure(context).
import { readFileSync } from 'node:fs';
import { commands, largeStore, served } from './commands.mjs';

const logged = { name: 'codemode', driver: 'codemode', opts: {} };
const unlogged = { name: 'codemode, nothing logged', driver: 'codemode', opts: { log: 'off' } };
const other = { name: 'codemode, the other build', driver: 'other', opts: {} };
const first = { name: "codemode, a runtime's first run", driver: 'codemode', opts: { first: 1 }, most: 4 };
const process_ = { name: 'codemode, a process for each', driver: 'codemode', opts: { isolation: 'process' }, most: 4 };
const vm_ = { name: 'codemode, a VM for each', driver: 'codemode', opts: { isolation: 'vm' } };
// A machine that did nothing for a tenth of a second is cold, for whoever comes then; the rows above pause as long, for their workers to be there.
const paused = { name: 'codemode, after a pause', driver: 'codemode', opts: { pauseMs: 100 }, most: 4 };
const isolatedVmPaused = { name: 'isolated-vm, after a pause', driver: 'isolated-vm', opts: { pauseMs: 100 }, most: 4 };
const isolatedVm = { name: 'isolated-vm', driver: 'isolated-vm' };
const quickjs = { name: 'quickjs-emscripten', driver: 'quickjs' };
const run = { name: 'run', driver: 'run' };
const nodeVm = { name: 'node:vm, no sandbox', driver: 'vm' };
const oneShot = { name: 'the reference', driver: 'reference' };
const durable = { name: 'the reference, durable', driver: 'reference', opts: { durable: 1 } };

const peers = [isolatedVm, quickjs, run, oneShot, durable, nodeVm];
const all = [logged, unlogged, other, ...peers];
const notDurable = all.filter((s) => s !== durable);
const once = [{ opts: {} }];

const bombs = ['arrays', 'string-ropes', 'objects', 'typed-arrays', 'maps'].map((name) => ({
  what: name,
  opts: { memoryMb: 64, cpuMs: 5000, code: readFileSync(new URL(`../tests/cases/bombs/${name}.js`, import.meta.url), 'utf8') },
}));

export const workloads = [
  { name: 'W1', what: 'a fresh sandbox, 1 + 1, gone', parts: once, subjects: [logged, unlogged, paused, first, vm_, process_, other, ...peers, isolatedVmPaused] },
  { name: 'W2', what: 'one tool call', parts: once, subjects: [logged, unlogged, paused, first, vm_, process_, other, ...peers, isolatedVmPaused] },
  { name: 'W3', what: '100 calls, one after the other', parts: once, subjects: all },
  { name: 'W4', what: '100 calls with Promise.all', parts: once, subjects: all },
  { name: 'W5', what: '10 of the 10,000 rows of a result of 1 MB', parts: once, subjects: all, most: 10 },
  {
    name: 'W6',
    what: 'compute',
    parts: [
      { what: 'fib(27)', opts: { part: 'fib' } },
      { what: 'sort and JSON of 100,000 objects', opts: { part: 'sort' } },
      { what: '10 million additions', opts: { part: 'loop' } },
    ],
    subjects: notDurable,
    rounds: 6,
    most: 5,
  },
  {
    name: 'W7',
    what: 'a program that spins, from its limit to control',
    parts: [
      { what: 'alone', opts: { cpuMs: 100 } },
      { what: 'while others run', opts: { cpuMs: 100, others: 1 } },
    ],
    subjects: notDurable.filter((s) => s !== unlogged),
    rounds: 5,
    most: 2,
    warmUps: 1,
  },
  {
    name: 'W8',
    what: 'a memory bomb, MB over its limit of 64',
    unit: 'figures',
    columns: { overMb: 'MB over' },
    parts: bombs,
    subjects: [logged, other, isolatedVm, quickjs, run, oneShot],
    rounds: 1,
    fresh: true,
    guard: { mb: 64 + 512, ms: 20000, why: 'killed, 512 MB over' },
  },
  {
    name: 'W9',
    what: 'memory (PSS) of each of 100 runs that wait on a call, and of the host',
    unit: 'figures',
    columns: { eachMb: 'MB each', hostMb: 'MB host' },
    parts: [{ opts: { waiting: 100 } }],
    subjects: [logged, other, isolatedVm, quickjs, run, oneShot, nodeVm],
    rounds: 1,
    fresh: true,
  },
  {
    name: 'W10',
    what: 'runs per second of the smallest program',
    unit: 'rate',
    parts: [1, 2, 16].map((inFlight) => ({ what: `${inFlight} in flight`, opts: { inFlight, ms: 700 } })),
    subjects: [logged, unlogged, process_, other, ...peers],
    rounds: 3,
  },
  {
    name: 'W11',
    what: 'durable',
    parts: [
      { what: '100 calls that only read, logged', opts: { part: 'reads' }, subjects: [logged, other, durable] },
      { what: '100 calls that have effects, logged', opts: { part: 'effects' }, subjects: [logged, other, durable] },
      { what: 'one sync of this disk', opts: { part: 'sync' }, subjects: [logged] },
      { what: '10 calls, until the pause', opts: { part: 'pause' } },
      { what: 'approve to result, with the worker that was kept', opts: { part: 'approve' }, subjects: [logged, other] },
      { what: 'approve to result, by replay', opts: { part: 'approveReplay' } },
      ...[1, 10, 100, 1000].map((calls) => ({ what: `approve to result, by replay of ${calls}`, opts: { part: 'replay', calls } })),
      { what: 'approve to result, by replay of 10000', opts: { part: 'replay', calls: 10000 }, subjects: [logged, other, run] },
    ],
    subjects: [logged, other, durable, run],
    rounds: 5,
    most: 10,
    warmUps: 1,
  },
  { name: 'W12', what: 'a store with 10,000 executions and 1,000,000 calls', measure: largeStore },
  { name: 'W13', what: 'whole commands, from start to end', local: commands, rounds: 15 },
  { name: 'run', what: 'the smallest program in a served process', local: served('return 1', '1'), rounds: 100, onlyByName: true },
  {
    name: 'log',
    what: '100 steps in a served process, one after the other, each recorded',
    local: served("let sum = 0; for (let i = 0; i < 100; i++) sum += await codemode.step('s' + i, () => i); return sum", '4950'),
    rounds: 40,
    onlyByName: true,
  },
  {
    name: 'deliveries',
    what: '100 timers at once in a served process, each delivered in its place',
    local: served('let n = 0; await Promise.all(Array.from({ length: 100 }, () => new Promise((r) => setTimeout(r, 0)).then(() => n++))); return n', '100'),
    rounds: 40,
    onlyByName: true,
  },
  {
    name: 'call',
    what: 'one call of a command that has effects, in a served process',
    local: served('return await local.echo({})', 'x', { toolsets: { local: { tools: { echo: { command: ['printf', 'x'] } } } } }),
    rounds: 100,
    onlyByName: true,
  },
];
