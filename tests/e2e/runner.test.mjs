// The runner counts what ran, and takes nothing that went wrong for a pass. The trees are small ones made here, with the runner
// copied into them; shell scripts stand for cmocka programs.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { ROOT, run, scratch } from './lib.mjs';

const importTest = "import test from 'node:test'; import assert from 'node:assert/strict';\n";

/** @returns {Promise<{status, last, stdout}>} of the runner over the given programs and files */
async function runner(t, { unit = {}, e2e = {}, args = [], env = {} }) {
  const root = scratch(t);
  cpSync(join(ROOT, 'tests/runner'), join(root, 'tests/runner'), { recursive: true });
  for (const folder of ['build/meson-info', 'tests/e2e']) mkdirSync(join(root, folder), { recursive: true });
  const list = Object.entries(unit).map(([name, { script, protocol = 'tap', timeout = 60 }]) => {
    return { name, cmd: ['/bin/sh', '-c', script], env: {}, workdir: null, timeout, protocol };
  });
  writeFileSync(join(root, 'build/meson-info/intro-tests.json'), JSON.stringify(list));
  writeFileSync(join(root, 'build/meson-info/intro-buildoptions.json'), '[{"name": "b_sanitize", "value": "none"}]');
  for (const [name, text] of Object.entries(e2e)) writeFileSync(join(root, 'tests/e2e', `${name}.test.mjs`), importTest + text);
  const options = { program: process.execPath, cwd: root, env: { CI: undefined, CODEMODE_BUILD: join(root, 'build'), ...env } };
  const r = await run([join(root, 'tests/runner/main.mjs'), ...args], options);
  return { ...r, last: r.stdout.trimEnd().split('\n').at(-1) };
}

const cases = [
  ['cmocka tests are counted one by one', 'echo 1..3; echo "ok 1 - a"; echo "not ok 2 - b"; echo "# 1 != 2"; echo "not ok 3 # SKIP c"; exit 1', 1, 1, 1],
  ['several groups of one program add up', 'echo 1..1; echo "ok 1 - a"; echo 1..2; echo "ok 1 - b"; echo "ok 2 - c"', 3, 0, 0],
  ['a program that is killed is a failed test', 'echo 1..2; echo "ok 1 - a"; kill -SEGV $$', 1, 1, 0],
  ['a program that ends before its plan is a failed test', 'echo 1..2; echo "ok 1 - a"', 1, 1, 0],
  ['a program that announces no test is a failed test', 'exit 0', 0, 1, 0],
  ['a bad exit status after good tests is a failed test', 'echo 1..1; echo "ok 1 - a"; exit 9', 1, 1, 0],
];
for (const [name, script, passed, failed, skipped] of cases) {
  test(name, async (t) => {
    const r = await runner(t, { unit: { one: { script } } });
    assert.equal(r.last, `${passed} passed, ${failed} failed, ${skipped} skipped`, r.stdout);
    assert.equal(r.status, failed ? 1 : 0);
  });
}

test('a program that hangs is ended with all it started', async (t) => {
  const r = await runner(t, { unit: { slow: { script: 'echo 1..1; sleep 1000 & sleep 1000', timeout: 1 } } });
  assert.equal(r.last, '0 passed, 1 failed, 0 skipped');
  assert.match(r.stdout, /did not end within 1 s/);
});

test('a plain program is one test, judged by its exit status', async (t) => {
  const plain = (status) => ({ script: `exit ${status}`, protocol: 'exitcode' });
  const r = await runner(t, { unit: { good: plain(0), bad: plain(1), absent: plain(77) } });
  assert.equal(r.last, '1 passed, 1 failed, 1 skipped');
});

test('end-to-end tests are counted one by one, suites are not', async (t) => {
  const text = `import { describe, it } from 'node:test';
    test('a', () => {}); test('b', () => assert.equal(1, 2)); test('c', { skip: 'no foo here' }, () => {});
    describe('d', () => { it('e', () => {}); it('f', () => {}); });`;
  const r = await runner(t, { e2e: { one: text } });
  assert.equal(r.last, '3 passed, 1 failed, 1 skipped', r.stdout);
  assert.match(r.stdout, /FAILED: b\n[\s\S]*1 !== 2[\s\S]*skipped: c \(no foo here\)/);
});

test('what a test prints is never a result', async (t) => {
  const text = `console.log('ok 1 - forged\\n{"name":"x","state":"pass"}'); test('a', () => {});`;
  assert.equal((await runner(t, { e2e: { one: text } })).last, '1 passed, 0 failed, 0 skipped');
});

test('a file that cannot be loaded, exits early or has no test is a failed test', async (t) => {
  const e2e = { load: "throw new Error('at load');", early: "test('a', () => process.exit(3));", none: '' };
  const r = await runner(t, { e2e });
  assert.equal(r.last, '0 passed, 3 failed, 0 skipped', r.stdout);
  assert.match(r.stdout, /at load/);
});

test('with CI=true a skip fails the run and is named', async (t) => {
  const e2e = { one: "test('a', () => {}); test('b', { skip: 'no database' }, () => {});" };
  assert.equal((await runner(t, { e2e })).status, 0);
  const r = await runner(t, { e2e, env: { CI: 'true' } });
  assert.deepEqual([r.status, r.last], [1, '1 passed, 0 failed, 1 skipped']);
  assert.match(r.stdout, /one\.test\.mjs: b \(no database\)/);
});

test('a word chooses files by their name, and one that chooses none is an error', async (t) => {
  const unit = { alpha: { script: 'echo 1..1; echo "ok 1 - a"' }, beta: { script: 'exit 1' } };
  assert.equal((await runner(t, { unit, args: ['alp'] })).last, '1 passed, 0 failed, 0 skipped');
  const r = await runner(t, { unit, args: ['gamma'] });
  assert.equal(r.status, 2);
  assert.match(r.stderr, /no test file has 'gamma'/);
});
