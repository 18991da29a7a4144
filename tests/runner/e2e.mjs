// End-to-end tests: every tests/e2e/**/*.test.mjs in a process of its own. Node's runner reports to a pipe of its own
// (tests/runner/reporter.mjs), so that nothing a test prints can be taken for a result. Works from Node 18 on.
import { mkdtempSync, readFileSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild, howItEnded } from './child.mjs';

const TIMEOUT_MS = 300_000; // of one file; a test that needs longer is several tests
const reporter = fileURLToPath(new URL('./reporter.mjs', import.meta.url));

function findTests(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((e) => (e.isDirectory() ? findTests(join(folder, e.name)) : join(folder, e.name)))
    .filter((path) => path.endsWith('.test.mjs'))
    .sort();
}

/** A line cut short by a kill is no result. */
function parseEvent(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

async function runFile(root, path, env) {
  const scratch = mkdtempSync(join(tmpdir(), 'codemode-tests-'));
  const events = join(scratch, 'events');
  try {
    const args = [`--test-reporter=${reporter}`, `--test-reporter-destination=${events}`, path];
    const r = await runChild(process.execPath, args, { cwd: root, env: { ...env, TMPDIR: scratch }, timeoutMs: TIMEOUT_MS });
    const lines = existsSync(events) ? readFileSync(events, 'utf8').split('\n') : [];
    const tests = lines.flatMap(parseEvent);
    const ended = howItEnded(r, TIMEOUT_MS);
    const anyFailed = tests.some((t) => t.state === 'fail');
    if (tests.length === 0 || r.signal || (ended && !anyFailed)) {
      const why = tests.length === 0 ? 'no test reported' : `after '${tests.at(-1).name}'`;
      tests.push({ name: relative(root, path), state: 'fail', why: [ended, why].filter(Boolean).join('; ') });
    }
    return { tests, output: r.both, ms: r.ms };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function sanitizer(build) {
  const options = JSON.parse(readFileSync(join(build, 'meson-info/intro-buildoptions.json'), 'utf8'));
  return options.find((o) => o.name === 'b_sanitize')?.value ?? 'none';
}

export async function e2e(root, build) {
  const env = {
    CODEMODE: join(build, 'src/cli/codemode'),
    CODEMODE_WORKER: join(build, 'src/worker/codemode-worker'),
    CODEMODE_BUILD: build,
    CODEMODE_ROOT: root,
    CODEMODE_SANITIZE: sanitizer(build),
    ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? 'abort_on_error=0:strict_string_checks=1',
    UBSAN_OPTIONS: process.env.UBSAN_OPTIONS ?? 'print_stacktrace=1:halt_on_error=1',
  };
  const tasks = findTests(join(root, 'tests/e2e')).map((path) => ({
    file: relative(join(root, 'tests'), path),
    run: (environment) => runFile(root, path, environment),
  }));
  return { env, tasks };
}
