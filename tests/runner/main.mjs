// The test runner: unit tests (Meson's list; cmocka speaking TAP) and end-to-end tests (Node's own test runner).
//
//   tests/run [-v] [-j N] [WORD…]     only the files whose name contains one of the words
//
// Counts individual tests: a cmocka test case or a Node test each is one. A program that crashes, hangs, reports
// nothing or ends badly although every reported test passed is one failed test. The very last line is
// `N passed, N failed, N skipped`; the exit status is 1 when anything failed, or nothing ran, or, with CI=true, when
// anything was skipped.
//
// Tests find what they need in the environment: CODEMODE and CODEMODE_WORKER (the programs), CODEMODE_BUILD (the build
// folder, absolute), CODEMODE_ROOT (the tree), CODEMODE_SANITIZE (Meson's b_sanitize, "none" in a plain build).
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cmocka } from './cmocka.mjs';
import { e2e } from './e2e.mjs';
import { stopAll } from './child.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../../..');

function usage(message) {
  console.error(`tests/run: ${message}\nusage: tests/run [-v] [-j N] [WORD…]`);
  process.exit(2);
}

function parseArguments(argv) {
  const options = { verbose: false, jobs: 2, words: [] };
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '-v') options.verbose = true;
    else if (argv[i] === '-j') {
      options.jobs = Number(argv[++i]);
      if (!Number.isInteger(options.jobs) || options.jobs < 1) usage(`-j ${argv[i]}: a whole number from 1`);
    } else if (argv[i].startsWith('-')) usage(`unknown option ${argv[i]}`);
    else options.words.push(argv[i]);
  }
  return options;
}

/** Run every job, at most `jobs` at a time, in order of their start. */
async function pool(jobs, tasks, each) {
  let next = 0;
  const lane = async () => {
    while (next < tasks.length) await each(tasks[next++]);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
}

const glyph = { pass: 'ok', fail: 'FAILED', skip: 'skipped' };

function report(file, result, verbose) {
  const count = (state) => result.tests.filter((t) => t.state === state).length;
  const failed = count('fail');
  const parts = [`${count('pass')} passed`];
  if (failed) parts.push(`${failed} FAILED`);
  if (count('skip')) parts.push(`${count('skip')} skipped`);
  console.log(`${failed ? 'FAIL' : 'ok  '} ${file.padEnd(44)} ${parts.join(', ')}  (${(result.ms / 1000).toFixed(1)} s)`);
  for (const t of result.tests) {
    if (!verbose && t.state === 'pass') continue;
    console.log(`     ${glyph[t.state]}: ${t.name}${t.state === 'skip' && t.why ? ` (${t.why})` : ''}`);
    if (t.state === 'fail' && t.why) console.log(t.why.replace(/^/gm, '       '));
  }
  if (failed && result.output.trim()) {
    console.log(`     --- output of ${file}:\n${result.output.trimEnd().replace(/^/gm, '     | ')}`);
  }
}

const options = parseArguments(process.argv.slice(2));
const build = resolve(root, process.env.CODEMODE_BUILD ?? 'build/default');
if (!existsSync(join(build, 'meson-info'))) usage(`${relative('.', build) || build} is not a build folder; run 'make build' first`);

const suites = [await cmocka(build), await e2e(root, build)];
const env = { ...process.env, ...suites[1].env };
const wanted = (task) => options.words.length === 0 || options.words.some((w) => task.file.includes(w));
const tasks = suites.flatMap((s) => s.tasks).filter(wanted);
if (tasks.length === 0) usage(`no test file has ${options.words.map((w) => `'${w}'`).join(' or ')} in its name`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopAll();
    process.exit(130);
  });
}

const total = { pass: 0, fail: 0, skip: 0 };
const skipped = [];
const started = Date.now();
await pool(options.jobs, tasks, async (task) => {
  const result = await task.run(env);
  report(task.file, result, options.verbose);
  for (const t of result.tests) {
    total[t.state]++;
    if (t.state === 'skip') skipped.push(`${task.file}: ${t.name}${t.why ? ` (${t.why})` : ''}`);
  }
});

const mustNotSkip = process.env.CI === 'true' && skipped.length > 0;
console.log(`\n${tasks.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s`);
if (mustNotSkip) console.log(`CI=true: nothing may be skipped, but these were:\n  ${skipped.join('\n  ')}`);
process.exitCode = total.fail > 0 || total.pass === 0 || mustNotSkip ? 1 : 0;
console.log(`${total.pass} passed, ${total.fail} failed, ${total.skip} skipped`);
