// Unit tests: the programs Meson lists. Those marked `tap` are cmocka programs and are read test by test; any other
// protocol counts as one test, judged by the exit status (77: skipped, as Meson has it).
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runChild, howItEnded } from './child.mjs';

/** cmocka's TAP. It writes a skipped test as `not ok 3 # SKIP name`, and its group failures as `# not ok`. */
export function parseTap(text) {
  const tests = [];
  let planned = 0;
  for (const line of text.split('\n')) {
    const plan = /^1\.\.(\d+)/.exec(line);
    const result = /^(not )?ok \d+ (?:- (.*)|# SKIP ?(.*))$/.exec(line);
    const note = /^#\s?(.*)$/.exec(line);
    if (plan) planned += Number(plan[1]);
    else if (result) {
      const state = result[3] !== undefined ? 'skip' : result[1] ? 'fail' : 'pass';
      tests.push({ name: result[2] ?? result[3], state, why: '' });
    } else if (note && tests.length && tests.at(-1).state !== 'pass') {
      const last = tests.at(-1);
      last.why += (last.why ? '\n' : '') + note[1];
    }
  }
  return { planned, tests };
}

async function runTap(test, env) {
  const timeoutMs = (test.timeout || 120) * 1000;
  const [program, ...args] = test.cmd;
  const r = await runChild(program, args, { cwd: test.workdir ?? undefined, env: { ...env, ...test.env }, timeoutMs });
  const { planned, tests } = parseTap(r.stdout);
  const ended = howItEnded(r, timeoutMs);
  const missing = planned - tests.length;
  const anyFailed = tests.some((t) => t.state === 'fail');
  if (missing > 0 || planned === 0 || (ended && !anyFailed) || r.signal || r.timedOut) {
    const after = tests.length ? ` after '${tests.at(-1).name}'` : '';
    const lost = missing > 0 ? `; ${missing} of ${planned} tests did not report` : '';
    const why = planned === 0 ? `; it announced no tests` : lost;
    tests.push({ name: basename(program), state: 'fail', why: `${ended || 'ended early'}${after}${why}` });
  }
  return { tests, output: r.both, ms: r.ms };
}

async function runPlain(test, env) {
  const timeoutMs = (test.timeout || 120) * 1000;
  const [program, ...args] = test.cmd;
  const r = await runChild(program, args, { cwd: test.workdir ?? undefined, env: { ...env, ...test.env }, timeoutMs });
  const ended = howItEnded(r, timeoutMs);
  const state = r.status === 77 ? 'skip' : ended ? 'fail' : 'pass';
  return { tests: [{ name: test.name, state, why: state === 'pass' ? '' : ended }], output: r.both, ms: r.ms };
}

export async function cmocka(build) {
  const list = JSON.parse(readFileSync(join(build, 'meson-info/intro-tests.json'), 'utf8'));
  const tasks = list.map((test) => ({
    file: `unit/${test.name}`,
    run: (env) => (test.protocol === 'tap' ? runTap(test, env) : runPlain(test, env)),
  }));
  return { tasks };
}
