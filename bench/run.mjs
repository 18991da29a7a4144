// `make bench`: measure codemode beside what people use today (docs/benchmarks.md).
//
//   node bench/run.mjs [-n ROUNDS] [-b BUILD] [--smoke] [WORKLOAD…]
//
// A workload (bench/workloads.mjs) has subjects that do the same work, each in a process of its own that measures itself. They take turns,
// in rounds, in another order each time, so that what else the machine does hits all alike; what is run first warms up and is not counted.
// Printed are the median and the 95th percentile, how many times as long the median took as that of the first subject, and the CPU time of
// all processes of the subject for one run. All samples go to bench.json in the build folder, with the machine and the versions that they
// are of. -b names the build folder of another version of codemode, which then is measured too. --smoke runs each once, to see that the
// bench works.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Driver, findDrivers, setUpPeers } from './drivers.mjs';
import { measureLocal, measurePart } from './measure.mjs';
import { median, percentile, short } from './statistics.mjs';
import { workloads } from './workloads.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const build = resolve(root, process.env.CODEMODE_BUILD ?? 'build/default');
const NAME = 40;
const CELL = 9;
const WIDTH = 80;

/** What a build folder has of it. */
const programs = (folder) => ({ build: folder, codemode: join(folder, 'src/cli/codemode'), worker: join(folder, 'src/worker/codemode-worker') });

function parseArguments(argv) {
  const options = { rounds: undefined, base: undefined, smoke: false, names: [] };
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '-b') options.base = programs(resolve(argv[++i] ?? ''));
    else if (argv[i] === '--smoke') options.smoke = true;
    else if (argv[i] !== '-n') options.names.push(argv[i]);
    else if (!/^[1-9]\d{0,5}$/.test((options.rounds = argv[++i]) ?? '')) throw new Error('-n wants a number of rounds, from 1');
  }
  const unknown = options.names.find((n) => !workloads.some((w) => w.name === n));
  if (unknown) throw new Error(`no workload '${unknown}'; there are ${workloads.map((w) => w.name).join(', ')}`);
  return options;
}

const machineOf = (folder) => ({
  cpu: cpus()[0]?.model,
  cpus: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  buildtype: JSON.parse(readFileSync(join(folder, 'meson-info/intro-buildoptions.json'), 'utf8')).find((o) => o.name === 'buildtype').value,
});

/* ---- what a row says */

function summary(row, first) {
  if (row.skip) return { ...row };
  if (!row.samples) return row;
  const said = { ...row, median: median(row.samples), p95: percentile(row.samples, 95) };
  if (first?.samples) said.ratio = said.median / median(first.samples);
  return said;
}

const cells = (name, values, note = '') => {
  const line = `  ${name.padEnd(NAME)}${values.map((v) => v.padStart(CELL)).join('')}`;
  console.log((note ? `${line}  ${note}` : line).slice(0, WIDTH).trimEnd());
};
const headings = { ms: ['median ms', 'p95 ms', 'times', 'CPU ms'], rate: ['a second', 'times'] };

function printRow(row, { unit = 'ms', columns }) {
  if (row.skip) cells(row.subject, [], row.skip);
  else if (unit === 'figures') cells(row.subject, Object.keys(columns).map((key) => short(row.figures[key])), columns.overMb && row.note);
  else if (unit === 'rate') cells(row.subject, [row.median.toFixed(0), short(row.ratio)]);
  else cells(row.subject, [short(row.median), short(row.p95), short(row.ratio), short(row.cpuMs)]);
  if (unit !== 'figures' && row.figures) for (const [key, value] of Object.entries(row.figures)) cells(`    ${key}`, [short(value)]);
}

function print(workload, part, rows) {
  console.log(`\n${workload.name}: ${workload.what}${part.what ? `: ${part.what}` : ''}`);
  cells('', workload.columns ? Object.values(workload.columns) : headings[workload.unit ?? 'ms']);
  for (const row of rows) printRow(row, workload);
}

/* ---- the run */

function makeContext(options, home) {
  const peers = options.smoke ? { node: process.execPath } : setUpPeers();
  const { drivers, left } = findDrivers({ build, base: options.base?.build, peers, only: options.smoke ? ['codemode', 'vm'] : undefined });
  for (const { name, reason } of left) console.log(`bench: ${name} is left out: ${reason}`);
  return {
    ...programs(build),
    base: options.base,
    smoke: options.smoke,
    rounds: options.smoke ? 1 : options.rounds && Number(options.rounds),
    home,
    peerNode: options.smoke ? undefined : peers.node,
    drivers: new Map([...drivers].map(([name, how]) => [name, new Driver({ ...how, env: { ...how.env, TMPDIR: home } })])),
    env: { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, CODEMODE_WORKER: join(build, 'src/worker/codemode-worker') },
  };
}

async function measure(workload, part, context) {
  if (workload.measure) return (await workload.measure(context)).map((row) => summary(row));
  const rows = workload.local ? await measureLocal(workload, context) : await measurePart(workload, part, context);
  return rows.map((row) => summary(row, rows[0]));
}

async function main() {
  const options = parseArguments(process.argv.slice(2));
  const chosen = workloads.filter((w) => (options.names.length ? options.names.includes(w.name) : !w.onlyByName && !(options.smoke && w.measure)));
  const home = mkdtempSync(join(tmpdir(), 'cm-bench-'));
  const machine = machineOf(build);
  const results = [];
  const context = makeContext(options, home);
  console.log(`${machine.cpus} × ${machine.cpu}, ${machine.memoryGb} GB; ${machine.buildtype} build, Node ${machine.node}`);
  try {
    for (const workload of chosen) {
      for (const part of workload.parts ?? [{}]) {
        const rows = await measure(workload, part, context);
        print(workload, part, rows);
        results.push({ workload: workload.name, what: workload.what, part: part.what, rows });
      }
    }
  } finally {
    for (const driver of context.drivers.values()) await driver.end();
    rmSync(home, { recursive: true, force: true });
  }
  const versions = Object.fromEntries([...context.drivers].map(([name, { hello }]) => [name, hello]));
  const path = join(build, options.smoke ? 'bench-smoke.json' : 'bench.json');
  writeFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), machine, versions, results }, null, 1)}\n`);
  console.log(`\nall samples: ${path}`);
}

main().catch((e) => {
  console.error(`bench: ${e.message}`);
  process.exitCode = 1;
});
