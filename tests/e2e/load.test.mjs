// The load in its short form: each place of the crowd runs one program. What must hold is checked by the program itself (tests/load).
import test from 'node:test';
import assert from 'node:assert/strict';
import { environment, SANITIZED } from './lib.mjs';
import { load } from '../load/run.mjs';

test('hundreds of programs at once, a tenth of them hostile, get what is theirs, and nothing is left', async () => {
  const sizes = SANITIZED ? [60, 20, 5] : [280, 90, 25, 5];
  const r = await load(['0', 'json=1', `cpuMs=${SANITIZED ? 1000 : 100}`, `runtimes=${sizes}`], { env: environment() });
  assert.deepEqual([r.status, r.stderr, r.problems], [0, '', []]);
  const report = JSON.parse(r.stdout);
  assert.deepEqual(report.runtimes.map((p) => p.good + p.hostile), sizes);
  assert.equal(report.runtimes.reduce((sum, p) => sum + p.hostile, 0), Math.floor(sizes.reduce((a, b) => a + b) / 10));
  assert.ok(report.runtimes.every((p) => p.waits === p.good));
  assert.ok(report.runtimes[0].approved > 0, 'a program that a human approves is among them');
});
