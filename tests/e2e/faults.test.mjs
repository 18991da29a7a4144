// What goes wrong around a program: signals and deaths of the host, disks that fill up, queues that are full. The run it meets
// ends with a clear error, the record says so, the next run works, and no process is left.
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, watch, writeFileSync, writeSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, npmServer, privateHome, run, SANITIZED, start } from './lib.mjs';

/** Tools that say when they have begun (a file appears) and end when they are told to (another one does). */
function configured(t, settings = {}, more = {}) {
  const home = privateHome(t);
  const signs = join(home.home, 'signs');
  mkdirSync(signs);
  const wait = 'n=$(cat | tr -dc 0-9); : >"$1/begun$n"; while ! [ -e "$1/go" ]; do sleep 0.02; done; echo $n';
  const tools = { wait: { command: ['sh', '-c', wait, 'sh', signs] }, mark: { command: ['sh', '-c', ': >"$1/mark"', 'sh', signs] }, ...more };
  const config = home.config({ codemode: { toolsets: { local: { tools } }, ...settings } });
  return { ...home, signs, args: ['--config', config] };
}

/** Resolves once `folder` has `name`. */
async function appears(folder, name) {
  const watcher = watch(folder);
  try {
    while (!readdirSync(folder).includes(name)) await once(watcher, 'change');
  } finally {
    watcher.close();
  }
}

const request = (id, code) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'codemode', arguments: { code } } })}\n`;

/** `codemode serve` spoken to by hand: what a client sends and gets, line by line. */
function serve(t, setup, [program, ...before] = [CODEMODE], after = []) {
  const child = start([...before, 'serve', ...setup.args, ...after], { ...setup, program, t });
  const answers = new Map();
  const waiting = new Map();
  let text = '';
  child.stdin.on('error', () => {}); // it may end without reading
  child.stderr.resume();
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines.map((l) => JSON.parse(l))) {
      answers.set(line.id, line);
      waiting.get(line.id)?.(line);
    }
  });
  const answer = (id) => new Promise((found) => (answers.has(id) ? found(answers.get(id)) : waiting.set(id, found)));
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal }));
  return { child, answers, answer, ended, send: (id, code) => child.stdin.write(request(id, code)) };
}

const outcome = (answer) => answer.result.structuredContent;
const listed = async (setup) => (await run(['executions', '--json', ...setup.args], setup)).json.executions;

/** All processes below `pid`, by /proc, with how each was started. */
function descendants(pid) {
  const all = new Map();
  for (const name of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const [, comm, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'));
      const started = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[19];
      all.set(Number(name), { pid: Number(name), comm, state, parent: Number(parent), started });
    } catch {
      // ended since it was listed
    }
  }
  const below = [];
  const visit = (of) => {
    for (const p of all.values()) {
      if (p.parent !== of) continue;
      below.push(p);
      visit(p.pid);
    }
  };
  visit(pid);
  return below;
}

/** Whether this very process still runs: one of its number that began at another time is a stranger. */
function lives({ pid, started }) {
  try {
    const [state, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
    return rest[18] === started && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

test('SIGTERM lets serve finish what is in flight, answers it, and ends with status 0', async (t) => {
  const setup = configured(t);
  const s = serve(t, setup);
  s.send(1, 'return "got " + await local.wait({ n: 1 })');
  await appears(setup.signs, 'begun1');
  s.child.kill('SIGTERM');
  // It reads no more: what is sent now is not begun.
  await settled(s.child);
  s.send(2, 'await local.wait({ n: 2 })');
  writeFileSync(join(setup.signs, 'go'), '');
  assert.deepEqual(await s.ended, { status: 0, signal: null });
  assert.equal(outcome(s.answers.get(1)).status, 'completed');
  assert.equal(outcome(s.answers.get(1)).result, 'got 1');
  assert.ok(!s.answers.has(2));
  assert.deepEqual((await listed(setup)).map((e) => e.status), ['completed']);
  assert.deepEqual(readdirSync(setup.signs).sort(), ['begun1', 'go']);
});

/** Resolves once a process has taken the signals that were sent to it. */
async function settled(child) {
  const pending = () => /^(?:SigPnd|ShdPnd):\s*0*[1-9a-f]/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
  const asleep = () => /^State:\s+S/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
  while (pending() || !asleep()) await new Promise((next) => setImmediate(next));
}

/** The same where it may have ended of them. */
const taken = (child) => settled(child).catch((e) => assert.ok(['ENOENT', 'ESRCH'].includes(e.code), e));

for (const [how, signals] of [['a second SIGTERM', ['SIGTERM', 'SIGTERM']], ['SIGINT after SIGTERM', ['SIGTERM', 'SIGINT']], ['SIGINT', ['SIGINT']]]) {
  test(`${how} cancels what serve runs, answers it, records it, and ends with status 0`, async (t) => {
    const setup = configured(t);
    const s = serve(t, setup);
    s.send(1, 'console.log("before"); return await local.wait({ n: 1 })');
    await appears(setup.signs, 'begun1');
    for (const [i, signal] of signals.entries()) {
      if (i > 0) await settled(s.child); // two that wait at once would be one
      s.child.kill(signal);
    }
    await taken(s.child);
    writeFileSync(join(setup.signs, 'go'), ''); // too late: a server that still waited would now complete
    assert.deepEqual(await s.ended, { status: 0, signal: null });
    assert.equal(outcome(s.answers.get(1)).status, 'cancelled');
    assert.deepEqual(outcome(s.answers.get(1)).logs, ['before']);
    assert.deepEqual((await listed(setup)).map((e) => e.status), ['cancelled']);
  });
}

test('a program that goes on after SIGTERM is cancelled when its time is up', async (t) => {
  const setup = configured(t);
  const s = serve(t, setup);
  s.send(1, 'return await local.wait({ n: 1 })');
  await appears(setup.signs, 'begun1');
  s.child.kill('SIGTERM');
  assert.deepEqual(await s.ended, { status: 0, signal: null }); // after eight seconds, which nothing else would end
  assert.equal(outcome(s.answers.get(1)).status, 'cancelled');
  assert.deepEqual((await listed(setup)).map((e) => e.status), ['cancelled']);
});

test('SIGTERM after the client closed its end is no request to wait any longer', async (t) => {
  const setup = configured(t);
  const s = serve(t, setup);
  s.send(1, 'return await local.wait({ n: 1 })');
  await appears(setup.signs, 'begun1');
  s.child.stdin.end();
  await once(s.child.stdin, 'finish');
  await settled(s.child);
  s.child.kill('SIGTERM');
  await taken(s.child);
  writeFileSync(join(setup.signs, 'go'), '');
  assert.deepEqual(await s.ended, { status: 0, signal: null });
  assert.deepEqual((await listed(setup)).map((e) => e.status), ['cancelled']);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} cancels codemode run, which records it and ends with status 130`, async (t) => {
    const setup = configured(t);
    const child = start(['run', '--json', ...setup.args, '-e', 'console.log("before"); await local.wait({ n: 1 })'], { ...setup, t });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    await appears(setup.signs, 'begun1');
    child.kill(signal);
    assert.deepEqual(await once(child, 'close'), [130, null]);
    assert.equal(JSON.parse(stdout).status, 'cancelled');
    assert.deepEqual(JSON.parse(stdout).logs, ['before']);
    const [recorded] = await listed(setup);
    assert.equal(recorded.status, 'cancelled');
  });
}

test('a host killed at once leaves no process of the sandbox and no server, and its runs go on where that is safe', async (t) => {
  const [command, ...args] = npmServer('@modelcontextprotocol/server-everything');
  const hold = { command: ['sh', '-c', 'echo x >>"$1/held"; while ! [ -e "$1/go" ]; do sleep 0.02; done; echo 7', 'sh', '.'], readOnly: true };
  const setup = configured(t, {}, { hold });
  hold.command[4] = setup.signs;
  const { codemode } = JSON.parse(readFileSync(setup.args[1], 'utf8'));
  codemode.toolsets.local.tools.hold = hold;
  setup.args = ['--config', setup.config({ mcpServers: { everything: { command, args } }, codemode }, 'more.json')];
  const s = serve(t, setup);
  s.send(1, 'await everything.get_sum({ a: 1, b: 2 }); await local.wait({ n: 1 })');
  s.send(2, 'const n = await local.mark({}); console.log("marked"); return await local.hold({ n: 7 })');
  await appears(setup.signs, 'begun1');
  await appears(setup.signs, 'held');
  const below = descendants(s.child.pid);
  t.diagnostic(below.map((p) => p.comm).join(' '));
  assert.ok(below.filter((p) => p.comm === 'codemode-worker').length >= 3, 'a zygote and two workers');
  assert.ok(below.some((p) => /node|MainThread/.test(p.comm)));
  s.child.kill('SIGKILL');
  await s.ended;
  // The tool that waits does not read its standard input: it ends by itself, once it may.
  const owned = below.filter((p) => !['sh', 'sleep', 'cat', 'tr'].includes(p.comm));
  while (owned.some(lives)) await new Promise((next) => setImmediate(next));
  writeFileSync(join(setup.signs, 'go'), '');
  while (below.some(lives)) await new Promise((next) => setImmediate(next));
  const next = await run(['run', '--json', ...setup.args, '-e', 'return 1'], setup);
  assert.equal(next.json.result, 1, next.stderr);
  const recorded = await listed(setup);
  assert.deepEqual(recorded.map((e) => e.status), ['completed', 'paused', 'paused']);
  // A server goes on with what waits for nobody: what was marked is not marked again, what only reads is asked again.
  rmSync(join(setup.signs, 'mark'));
  const again = serve(t, setup);
  for (let state; state !== 'completed'; ) state = (await listed(setup)).find((e) => e.executionId === recorded[1].executionId).status;
  again.child.stdin.end();
  await again.ended;
  const of = async (id) => (await run(['executions', id, '--json', ...setup.args], setup)).json;
  const done = await of(recorded[1].executionId);
  assert.equal(done.result, 7);
  assert.deepEqual(done.logs, ['marked']);
  assert.deepEqual(done.calls.map((c) => [c.method, c.state]), [['mark', 'applied'], ['hold', 'applied']]);
  assert.ok(!readdirSync(setup.signs).includes('mark'));
  assert.equal(readFileSync(join(setup.signs, 'held'), 'utf8'), 'x\nx\n');
  // What may have had an effect is for somebody to say.
  const asked = await of(recorded[2].executionId);
  assert.equal(asked.status, 'paused');
  assert.deepEqual(asked.calls.map((c) => [c.method, c.state]), [['get_sum', 'applied'], ['wait', 'pending']]);
  assert.deepEqual(asked.pending.map((c) => c.seq), [1]);
  assert.match(asked.pending[0].rule ?? asked.calls[1].rule, /^interrupted/);
});

for (const [what, pick] of [
  ['a worker', (below, zygote) => below.find((p) => p.parent === zygote.pid)],
  ['the zygote', (_, zygote) => zygote],
]) {
  test(`${what} killed during a call ends that run as crashed, with its log, and the next one works`, async (t) => {
    const setup = configured(t);
    const s = serve(t, setup);
    s.send(1, 'console.log("before"); return await local.wait({ n: 1 })');
    await appears(setup.signs, 'begun1');
    const below = descendants(s.child.pid);
    const zygote = below.find((p) => p.comm === 'codemode-worker' && p.parent === s.child.pid);
    // Which of the workers it is cannot be seen from here; the one that is bound is the oldest.
    process.kill(pick(below.sort((a, b) => a.started - b.started), zygote).pid, 'SIGKILL');
    const ended = outcome(await s.answer(1));
    assert.equal(ended.status, 'error');
    assert.equal(ended.error.code, 'crashed');
    assert.deepEqual(ended.logs, ['before']);
    assert.deepEqual(ended.calls.map((c) => [c.method, c.state]), [['wait', 'unknown']]);
    s.send(2, 'return 2');
    assert.equal(outcome(await s.answer(2)).result, 2);
    assert.deepEqual((await listed(setup)).map((e) => e.status), ['completed', 'error']);
    writeFileSync(join(setup.signs, 'go'), '');
  });
}

test('a program too many is refused at once with the name of the limit, and leaves no record', async (t) => {
  const setup = configured(t, { maxWorkers: 1, maxQueued: 2 });
  const s = serve(t, setup);
  s.send(1, 'return await local.wait({ n: 1 })');
  await appears(setup.signs, 'begun1');
  s.send(2, 'return 2');
  s.send(3, 'return 3');
  s.send(4, 'return 4');
  const refused = outcome(await s.answer(4));
  assert.equal(refused.status, 'error');
  assert.equal(refused.error.code, 'queue_limit');
  assert.match(refused.error.message, /2 programs of runtime 'default' already wait .*\(maxQueued\); 1 run at once \(maxWorkers\)/);
  writeFileSync(join(setup.signs, 'go'), '');
  assert.deepEqual([outcome(await s.answer(2)).result, outcome(await s.answer(3)).result], [2, 3]);
  s.send(5, 'return 5');
  assert.equal(outcome(await s.answer(5)).result, 5);
  assert.equal((await listed(setup)).length, 4);
});

/**
 * A small disk for the store, in a mount namespace of its own: the script runs in a shell whose $D is the disk.
 */
const MOUNTS = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp']).status === 0;

async function onSmallDisk(setup, script) {
  const disk = join(setup.home, 'disk');
  mkdirSync(disk, { recursive: true });
  const full = `mount -t tmpfs -o size=2m tmpfs "$D" || exit 99\n${script}`;
  return run(['-m', 'sh', '-c', full], { ...setup, program: 'unshare', env: { ...setup.env, D: disk, CODEMODE } });
}

const PROGRAM = 'let n = 0; for (let i = 0; i < 30; i++) n += await local.count({ text: "x".repeat(2000) }); return n';
const COUNT = { count: { command: ['wc', '-c'], readOnly: true } };
const NAMES_THE_STORE = /store '.*(full|no space)|could not be recorded/i;

test('a disk with any amount of room left gives a result or an error that names the store, and room again a result', { skip: MOUNTS ? false : 'nothing can be mounted here' }, async (t) => {
  const setup = configured(t, {}, COUNT);
  const rooms = SANITIZED ? [0, 64, 1500] : [0, 4, 16, 64, 256, 1500];
  const one = (code, out) => `"$CODEMODE" run --json --store "sqlite:$D/store.db" ${setup.args.join(' ')} -e '${code}' >${out} 2>${out}.err; echo $? >>${out}.err`;
  const script = rooms.map((kb) => `
    ${kb === 4 ? '' : one('return 0', `first${kb}`)}
    dd if=/dev/zero of="$D/filler" bs=1k count=$(($(df --output=avail -k "$D" | tail -1) - ${kb})) 2>/dev/null
    ${one(PROGRAM, `full${kb}`)}
    rm "$D/filler"
    ${one('return 7', `after${kb}`)}
    rm -f "$D"/store.db*
  `).join('\n');
  const { status, stderr } = await onSmallDisk(setup, script);
  assert.equal(status, 0, stderr);
  let completed = 0;
  for (const kb of rooms) {
    const [full, said, after] = [`full${kb}`, `full${kb}.err`, `after${kb}`].map((name) => readFileSync(join(setup.cwd, name), 'utf8'));
    assert.equal(JSON.parse(after).result, 7, `after ${kb} kB`);
    if (/\b0\n$/.test(said)) {
      assert.equal(JSON.parse(full).result, 30 * 2011);
      completed++;
    } else {
      assert.match(said, /\b1\n$/, `with ${kb} kB`);
      assert.match(full ? JSON.parse(full).error.message : said, NAMES_THE_STORE, `with ${kb} kB`);
    }
  }
  t.diagnostic(`${completed} of ${rooms.length} had room enough`);
  assert.ok(completed > 0 && completed < rooms.length, 'the rooms do not span both ends');
});

test('a disk that fills while a program waits for a call ends that run, and the server goes on once there is room', { skip: MOUNTS ? false : 'nothing can be mounted here' }, async (t) => {
  const setup = configured(t, {}, COUNT);
  const disk = join(setup.home, 'disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=4m tmpfs "$1" || exit 99; shift; exec "$@"';
  const s = serve(t, setup, ['unshare', '-m', 'sh', '-c', script, 'sh', disk, CODEMODE], ['--store', `sqlite:${join(disk, 'store.db')}`]);
  // Its disk is mounted in its own view of the files, which /proc shows.
  const filler = `/proc/${s.child.pid}/root${disk}/filler`;
  s.send(1, 'return 1');
  assert.equal(outcome(await s.answer(1)).result, 1);
  s.send(2, `await local.wait({ n: 2 }); ${PROGRAM}`);
  await appears(setup.signs, 'begun2');
  fill(filler);
  writeFileSync(join(setup.signs, 'go'), '');
  const met = await s.answer(2);
  assert.equal(met.result.isError, true);
  assert.match(outcome(met).error.message, NAMES_THE_STORE);
  s.send(3, 'return 3');
  const still = outcome(await s.answer(3)); // a small record may find its place, and otherwise the reason is told
  if (still.status !== 'completed') assert.match(still.error.message, NAMES_THE_STORE);
  rmSync(filler);
  s.send(4, PROGRAM);
  assert.equal(outcome(await s.answer(4)).result, 30 * 2011);
  s.child.stdin.end();
  assert.deepEqual(await s.ended, { status: 0, signal: null });
});

/** Write until the disk is full. */
function fill(path) {
  const fd = openSync(path, 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch (e) {
    assert.equal(e.code, 'ENOSPC');
  } finally {
    closeSync(fd);
  }
}
