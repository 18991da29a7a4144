// A program under which codemode dies each time it runs: it is taken up three times and no more, so that the server serves again, and
// somebody says what becomes of it.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { privateHome, run, start, untilOutput } from './lib.mjs';

const request = (id, code) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'codemode', arguments: { code } } })}\n`;

function configured(t) {
  const home = privateHome(t);
  const signs = join(home.home, 'signs');
  mkdirSync(signs);
  const end = 'cat >/dev/null; echo x >>"$1/ends"; [ -e "$1/mended" ] || kill -9 $PPID; echo 5';
  const config = home.config({ codemode: { toolsets: { local: { tools: { end: { command: ['sh', '-c', end, 'sh', signs], readOnly: true } } } } } });
  return { ...home, signs, args: ['--config', config], ends: () => readFileSync(join(signs, 'ends'), 'utf8').length / 2 };
}

/** A server that is killed by what it runs. */
async function thatDies(t, setup, input = '') {
  const child = start(['serve', ...setup.args], { ...setup, t });
  child.stdin.on('error', () => {});
  child.stdin.write(input);
  child.stdout.resume();
  child.stderr.resume();
  assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
}

test('a program under which codemode dies each time is taken up three times, and then left to somebody', async (t) => {
  const setup = configured(t);
  await thatDies(t, setup, request(1, 'console.log("begun"); return await local.end()'));
  for (let taken = 1; taken <= 3; taken++) {
    await thatDies(t, setup);
    assert.equal(setup.ends(), 1 + taken);
  }
  const child = start(['serve', ...setup.args], { ...setup, t });
  const said = untilOutput(child.stderr, /'(exec_[0-9a-f_-]+)' was interrupted and cannot go on: (.*)\n/);
  const answered = untilOutput(child.stdout, /\{.*\}\n/);
  child.stdin.write(request(2, 'return 1'));
  const [, id, why] = await said;
  assert.match(why, /^Its process died 4 times while it ran, so it is not taken up again by itself: .*`codemode approve exec_.*`codemode cancel exec_/);
  assert.equal(JSON.parse((await answered)[0]).result.structuredContent.result, 1, 'the server serves');
  const shown = (await run(['executions', id, '--json', ...setup.args], setup)).json;
  assert.equal(shown.status, 'paused');
  assert.deepEqual(shown.warnings, [why]);
  assert.match((await run(['executions', id, ...setup.args], setup)).stdout, new RegExp(`\nwarning  Its process died 4 times.*approve ${id}`));
  assert.equal(setup.ends(), 4, 'nobody took it up');
  child.stdin.end();
  await once(child, 'close');
  // Who lets it go on is killed as well; from then on it is counted anew.
  const killed = await run(['approve', id, ...setup.args], setup);
  assert.equal(killed.signal, 'SIGKILL', killed.stderr);
  await thatDies(t, setup);
  assert.equal(setup.ends(), 6);
  writeFileSync(join(setup.signs, 'mended'), '');
  const approved = await run(['approve', id, '--json', ...setup.args], setup);
  assert.equal(approved.status, 0, approved.stderr);
  assert.equal(approved.json.result, 5);
  assert.equal(approved.json.warnings, undefined);
});
