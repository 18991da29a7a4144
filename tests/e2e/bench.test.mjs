// The bench itself: it runs, it measures only what answers right, and what it says of samples is so. No figure is looked at.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Driver } from '../../bench/drivers.mjs';
import { programs, rowsText, untilApproval } from '../../bench/peers/programs.mjs';
import { neutral } from '../../bench/peers/workloads.mjs';
import { median, percentile } from '../../bench/statistics.mjs';
import { tables } from '../../bench/table.mjs';
import { workloads } from '../../bench/workloads.mjs';
import { BUILD, ROOT, run } from './lib.mjs';

test('each subject that is here runs once, in a process of its own', async () => {
  const r = await run([join(ROOT, 'bench/run.mjs'), '--smoke', 'W2', 'W3'], { program: process.execPath, env: { ...process.env, CODEMODE_BUILD: BUILD } });
  assert.equal(r.status, 0, r.stderr);
  assert.match(r.stdout, /^W3: 100 calls, one after the other$/m);
  assert.ok(r.stdout.split('\n').every((line) => line.length <= 80 || line.includes(BUILD)), r.stdout);
  const { results, versions } = JSON.parse(readFileSync(join(BUILD, 'bench-smoke.json'), 'utf8'));
  assert.deepEqual(results.map((x) => x.workload), ['W2', 'W3']);
  for (const { rows } of results) {
    assert.deepEqual(rows.map((row) => row.subject), ['codemode', 'node:vm, no sandbox']);
    assert.ok(rows.every((row) => row.samples.length === 1 && row.median === row.samples[0]));
  }
  assert.equal(versions.vm.version, process.versions.node);
});

test('the tables of the page have what was measured, and say what was not', () => {
  const rows = [{ subject: 'codemode', median: 1.234, samples: [1.234] }, { subject: 'isolated-vm', skip: 'the process died (SIGABRT)' }, { subject: 'run', skip: 'does not have this' }];
  const text = tables({ at: '2026-01-02T03:04:05Z', machine: { cpus: 2, cpu: 'X', memoryGb: 3, buildtype: 'release' }, versions: { vm: { name: 'v', version: '1' } }, results: [{ workload: 'W1', what: 'smallest', rows }] });
  assert.match(text, /^\| W1 smallest \| 1\.23 \| died \(SIGABRT\) \| – \|$/m);
  assert.match(text, /^Measured on 2026-01-02 on 2 × X with 3 GB/);
});

test('a workload that there is not is named, with those that there are', async () => {
  const r = await run([join(ROOT, 'bench/run.mjs'), 'W99'], { program: process.execPath, env: { ...process.env, CODEMODE_BUILD: BUILD } });
  assert.equal(r.status, 1);
  assert.match(r.stderr, /no workload 'W99'; there are W1, W2,/);
});

test('median and percentile are of values that were measured', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.deepEqual([median([3, 1, 2]), median(hundred), percentile(hundred, 95), percentile([7], 95)], [2, 50.5, 95, 7]);
});

test('what answers wrong is not measured', async () => {
  await assert.rejects(neutral.W1({ run: async () => 3 }, { runs: 1 }), /answered 3, not 2/);
  await assert.rejects(neutral.W7({ run: async () => 3 }, { runs: 1, opts: {} }), /answered "it ended"/);
});

test('a driver that dies is told, and is there again when it is asked again', async () => {
  const code = 'console.log(JSON.stringify({ hello: {} })); process.stdin.once("data", (d) => String(d).includes("die") ? process.exit(3) : console.log("{}"))';
  const driver = new Driver({ command: [process.execPath, '-e', code] });
  assert.equal((await driver.ask({ w: 'die' })).died, 'status 3');
  const answer = await driver.ask({ w: 'W1' });
  assert.ok(answer.cpuMs >= 0, JSON.stringify(answer));
  await driver.end();
});

test('codemode and its peers run the same programs', () => {
  const source = ['workloads', 'durable'].map((name) => readFileSync(join(ROOT, `bench/${name}.c`), 'utf8')).join('\n');
  const said = source.replace(/"\s*"/g, '').replace(/\s+/g, '').replaceAll('%s', 'echo').replaceAll('%u', '10');
  for (const { code } of [...['W2', 'W3', 'W4', 'W5', 'W6 fib', 'W6 sort', 'W6 loop'].map((name) => programs[name]), untilApproval(11)]) {
    assert.ok(said.includes(code.replace(/\s+/g, '')), `not in bench/*.c: ${code}`);
  }
  assert.ok(rowsText().length > 1e6 && rowsText().length < 1.1e6);
});

test('each workload of the bench has its subjects', () => {
  assert.deepEqual(
    workloads.filter((w) => !w.onlyByName).map((w) => w.name),
    Array.from({ length: 13 }, (_, i) => `W${i + 1}`),
  );
});
