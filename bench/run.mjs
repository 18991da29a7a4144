// `make bench`: measure codemode beside what people use today.
//
//   node bench/run.mjs [-n RUNS] [-b BUILD] [WORKLOAD…]
//
// A workload (bench/workloads.mjs) has subjects that do the same work. They take turns, run by run, so that what else the
// machine does hits all alike; the first turns warm caches and are not counted. Printed are the median and the 95th
// percentile in milliseconds, and how many times as long the median took as that of the first subject. All samples go to
// bench.json in the build folder, with the machine they were taken on. -b names the build folder of another version, which
// then is the first subject of the workloads that compare codemode with itself.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workloads } from './workloads.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const build = resolve(root, process.env.CODEMODE_BUILD ?? 'build/default');
const WARM_UPS = 2;

export const median = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
/** Nearest rank: a value that was measured. */
export const percentile = (sorted, p) => sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];

const row = (name, samples) => {
  const sorted = [...samples].sort((a, b) => a - b);
  return { subject: name, median: median(sorted), p95: percentile(sorted, 95), samples };
};

async function measure(workload, runs, context) {
  if (workload.measure) return (await workload.measure(context)).map(({ name, samples }) => row(name, samples));
  const subjects = [];
  try {
    for (const make of workload.subjects(context)) subjects.push({ samples: [], ...(await make(context)) });
    for (let i = -WARM_UPS; i < runs; i++) {
      for (const s of subjects) {
        const before = process.hrtime.bigint();
        const answer = await s.run();
        const ms = Number(process.hrtime.bigint() - before) / 1e6;
        if (answer !== workload.answer) throw new Error(`${s.name} answered ${JSON.stringify(answer)}, not ${JSON.stringify(workload.answer)}`);
        if (i >= 0) s.samples.push(ms);
      }
    }
    return subjects.map(({ name, samples }) => row(name, samples));
  } finally {
    for (const s of subjects) await s.end?.();
  }
}

function print(workload, rows) {
  console.log(`\n${workload.name}: ${workload.what}`);
  const width = Math.max(30, ...rows.map((r) => r.subject.length));
  const compared = workload.subjects ? 'times' : '';
  console.log(`  ${'subject'.padEnd(width)} ${'median ms'.padStart(10)} ${'p95 ms'.padStart(10)} ${compared.padStart(8)}`);
  for (const r of rows) {
    const times = compared && (r.median / rows[0].median).toFixed(2);
    console.log(`  ${r.subject.padEnd(width)} ${r.median.toFixed(2).padStart(10)} ${r.p95.toFixed(2).padStart(10)} ${times.padStart(8)}`);
  }
}

/** What a build folder has of it. */
const programs = (folder) => ({ build: folder, codemode: join(folder, 'src/cli/codemode'), worker: join(folder, 'src/worker/codemode-worker') });

function parseArguments(argv) {
  const options = { runs: undefined, base: undefined, names: [] };
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '-b') options.base = programs(resolve(argv[++i] ?? ''));
    else if (argv[i] !== '-n') options.names.push(argv[i]);
    else if (!/^[1-9]\d{0,5}$/.test((options.runs = argv[++i]) ?? '')) throw new Error('-n wants a number of runs, from 1');
  }
  const unknown = options.names.find((n) => !workloads.some((w) => w.name === n));
  if (unknown) throw new Error(`no workload '${unknown}'; there are ${workloads.map((w) => w.name).join(', ')}`);
  return options;
}

async function main() {
  const options = parseArguments(process.argv.slice(2));
  const home = mkdtempSync(join(tmpdir(), 'cm-bench-'));
  const context = {
    ...programs(build),
    base: options.base,
    home,
    root,
    env: { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, CODEMODE_WORKER: join(build, 'src/worker/codemode-worker') },
  };
  const buildtype = JSON.parse(readFileSync(join(build, 'meson-info/intro-buildoptions.json'), 'utf8')).find((o) => o.name === 'buildtype').value;
  const machine = { cpu: cpus()[0]?.model, cpus: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30), node: process.version, buildtype };
  console.log(`${machine.cpus} × ${machine.cpu}, ${machine.memoryGb} GB; ${buildtype} build, Node ${machine.node}`);

  const results = [];
  try {
    for (const workload of workloads.filter((w) => options.names.length === 0 || options.names.includes(w.name))) {
      const rows = await measure(workload, Number(options.runs ?? workload.runs ?? 20), context);
      print(workload, rows);
      results.push({ workload: workload.name, what: workload.what, rows });
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const path = join(build, 'bench.json');
  writeFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 1)}\n`);
  console.log(`\nall samples: ${path}`);
}

main().catch((e) => {
  console.error(`bench: ${e.message}`);
  process.exitCode = 1;
});
