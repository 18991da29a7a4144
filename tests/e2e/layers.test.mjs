// A machine that gives no namespaces: programs run, and `codemode check` names each layer that does not hold, with what that means.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { BUILD, privateHome, run, SANITIZED } from './lib.mjs';

// The real worker without the steps that make namespaces and an empty root: tests/probes/without.c.
const PLAIN = join(BUILD, 'tests/probes/codemode-worker-plain');
const MISSING = ['user namespace', 'network namespace', 'ipc namespace', 'mount namespace', 'uts namespace', 'pid namespace', 'empty root directory'];
const skip = !existsSync(PLAIN) && 'no worker without namespaces in this build';

test('without namespaces programs run as ever', { skip }, async (t) => {
  const h = privateHome(t);
  const r = await run(['run', '-e', 'return [6 * 7, new Intl.NumberFormat("de").format(1e6)]'], { cwd: h.cwd, env: { ...h.env, CODEMODE_WORKER: PLAIN } });
  assert.equal(r.stdout, '[42,"1.000.000"]\n', r.stderr);
});

test('check names the layers that do not hold and what that means', { skip }, async (t) => {
  const h = privateHome(t);
  const env = { ...h.env, CODEMODE_WORKER: PLAIN };
  const json = await run(['check', '--json'], { cwd: h.cwd, env });
  const { layers } = JSON.parse(json.stdout).sandbox;
  const missing = layers.filter((l) => !l.holds);
  assert.ok(MISSING.every((name) => missing.some((l) => l.name === name)), json.stdout);
  for (const l of missing) assert.ok(l.means, l.name);
  assert.ok(layers.filter((l) => l.holds).every((l) => l.means === undefined));
  if (!SANITIZED) assert.ok(layers.find((l) => l.name === 'system call filter').holds);
  const text = await run(['check'], { cwd: h.cwd, env });
  assert.equal(text.status, 0, text.stderr);
  assert.match(text.stdout, new RegExp(`^sandbox +ok, ${layers.length - missing.length} of ${layers.length} layers hold$`, 'm'));
  for (const l of missing) assert.ok(text.stdout.includes(`  without ${l.name}: ${l.means}\n`), text.stdout);
});
