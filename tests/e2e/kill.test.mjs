// The server is killed, again and again, at moments that a seed decides, while programs call tools that have effects. Whatever the
// moment: what was acknowledged stands in the record, what had to be approved has not run before it was, nothing has run twice that nobody
// said should, every effect has a call in the record, and the database is sound.
//
//   CM_SEED=n   the moments and programs of a run that failed; it prints its seed
//   CM_KILLS=n  how many
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { BUILD, privateHome, run, SANITIZED, start } from './lib.mjs';

const SEED = Number(process.env.CM_SEED ?? Math.floor(Math.random() * 2 ** 31));
const KILLS = Number(process.env.CM_KILLS ?? (SANITIZED ? 40 : 120));
const LANES = 4; // stores, each with its own line of servers; together they keep the machine busy
const MEASURE = 20; // one life in so many is let go on until all is answered: how long that takes, is how late the moments of the next ones are

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function numbers(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Programs by what they do; `n` gives names for their effects, no two alike. Each returns how many calls came back. */
const kinds = {
  sequence: (n) => `for (const n of ${JSON.stringify([n(), n(), n()])}) await local.charge({ n }); return 3;`,
  parallel: (n) => `return (await Promise.all(${JSON.stringify([n(), n(), n()])}.map((n) => local.charge({ n })))).length;`,
  step: (n) => `const one = await codemode.step('one', async () => { await local.charge({ n: '${n()}' }); return 1; });
    console.log('one', one); await local.charge({ n: '${n()}' }); return one + 1;`,
  caught: (n) => `try { await local.fail({ n: '${n()}' }); } catch (e) { console.warn(e.message); } await local.charge({ n: '${n()}' }); return 1;`,
  thrown: (n) => `await local.charge({ n: '${n()}' }); throw new Error('on purpose');`,
  reading: (n) => `let got = 0; for (const n of ${JSON.stringify([n(), n(), n(), n()])}) { await local.look({ n }); got++; }
    await local.charge({ n: '${n()}' }); return got + 1;`,
  timers: (n) => `const rolled = Math.random(); await new Promise((r) => setTimeout(r, 5)); await local.charge({ n: '${n()}', rolled }); return 1;`,
  approved: (n) => `await local.charge({ n: '${n()}' }); await local.guarded({ n: '${n()}' }); return 2;`,
  several: (n) => `const all = await Promise.allSettled([local.guarded({ n: '${n()}' }), local.charge({ n: '${n()}' }), local.guarded({ n: '${n()}' })]);
    return all.length;`,
};

/** A store, what happens to it, and what its tools have done: each effect is one document in the file of its tool, on the disk before the tool ends. */
function lane(t, number, random) {
  const home = privateHome(t);
  const file = (name) => join(home.home, name);
  const effect = (name) => ['dd', `of=${file(name)}`, 'oflag=append', 'conv=notrunc,fsync', 'status=none'];
  const store = join(home.home, 'state', 'codemode.db');
  const config = home.config({
    codemode: {
      store: `sqlite:${store}`, maxExecutions: 100000,
      toolsets: {
        local: {
          tools: {
            charge: { command: effect('charge') },
            guarded: { command: effect('guarded'), requiresApproval: true },
            look: { command: effect('look'), readOnly: true },
            fail: { command: ['sh', '-c', 'dd of="$1" oflag=append conv=notrunc,fsync status=none; exit 3', 'sh', file('fail')] },
          },
        },
      },
    },
  });
  let named = 0;
  return {
    home, store, args: ['--config', config], random,
    acknowledged: new Map(), // execution → the newest outcome that somebody was told
    allowed: new Set(), // "execution/seq" that somebody began to approve
    name: () => `${number}-${++named}`,
    pick: (list) => list[Math.floor(random() * list.length)],
    effects: (name) => {
      try {
        return readFileSync(file(name), 'utf8').split(/(?<=\})(?=\{)/).map((text) => JSON.parse(text).n);
      } catch (e) {
        if (e.code === 'ENOENT') return [];
        throw e;
      }
    },
  };
}

const told = (l, outcome) => outcome?.executionId && l.acknowledged.set(outcome.executionId, outcome);

/** `codemode serve`, given programs, and what it has answered; onAnswer is called after each. */
function serve(t, l, programs, onAnswer) {
  const child = start(['serve', ...l.args], { ...l.home, t });
  let text = '';
  child.stdin.on('error', () => {});
  child.stderr.resume();
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop(); // a line that was not finished was not said
    for (const line of lines) {
      told(l, JSON.parse(line).result?.structuredContent);
      onAnswer?.();
    }
  });
  programs.forEach((code, id) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'codemode', arguments: { code } } })}\n`);
  });
  return child;
}

const passes = (ms) => new Promise((over) => setTimeout(over, ms)); // not to wait for something: the moments are random

/** One life of a server, until a moment, or until all is answered. */
async function live(t, l, toTheEnd) {
  const programs = Array.from({ length: 2 + Math.floor(l.random() * 4) }, () => kinds[l.pick(Object.keys(kinds))](l.name));
  let left = programs.length;
  let done;
  const began = performance.now();
  const answered = new Promise((resolve) => (done = resolve));
  const child = serve(t, l, programs, () => --left === 0 && done());
  const ended = once(child, 'close');
  const others = [];
  // Whoever opens the store looks for what the dead have left: it must not touch what the living do.
  if (l.random() < 0.1) others.push(run(['executions', '--json', ...l.args], l.home).then((r) => assert.equal(r.status, 0, r.stderr)));
  if (toTheEnd) {
    await Promise.race([answered, ended.then(() => assert.fail('the server ended by itself'))]);
    l.lifeMs = performance.now() - began;
  } else {
    await passes(l.random() * l.lifeMs);
  }
  child.kill('SIGKILL');
  await Promise.all([ended, ...others]);
}

function inspect(l) {
  const r = spawnSync(join(BUILD, 'tests/unit/store_check'), [l.store], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(r.status, 0, r.stderr);
  return JSON.parse(r.stdout);
}

/** Tools outlive the server that started them; none of them is left when this resolves. */
async function toolsHaveEnded(l) {
  const mine = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(l.home.home);
    } catch {
      return false; // it has ended
    }
  };
  while (readdirSync('/proc').filter((n) => /^\d+$/.test(n) && Number(n) !== process.pid).some(mine)) await new Promise((next) => setImmediate(next));
}

/** A server that nobody kills takes up what was left; resolves when what can go on has ended. */
async function finish(t, l) {
  const child = serve(t, l, []);
  const waits = (s) => (e) => e.state === 'running' || (e.state === 'paused' && !s.calls.some((c) => c.id === e.id && c.state === 'pending' && !c.decided));
  for (;;) {
    const s = inspect(l);
    if (!s.executions.some(waits(s))) break;
    if (child.exitCode !== null || child.signalCode !== null) assert.fail('the last server ended by itself');
    await passes(20);
  }
  const ended = once(child, 'close');
  child.stdin.end();
  await ended;
  await toolsHaveEnded(l);
}

const count = (list) => list.reduce((all, n) => all.set(n, (all.get(n) ?? 0) + 1), new Map());

/** What must hold however often the server was killed. */
function verify(l) {
  const s = inspect(l);
  assert.equal(s.integrity, 'ok');
  assert.equal(s.foreign, 0);
  const states = new Map(s.executions.map((e) => [e.id, e.state]));
  for (const [id, outcome] of l.acknowledged) {
    assert.ok(states.has(id), `${id} was told to be ${outcome.status} and is not in the record`);
    if (outcome.status !== 'paused') assert.equal(states.get(id), outcome.status, `${id} was told to be ${outcome.status}`);
  }
  const rows = new Map(s.calls.filter((c) => c.connector === 'local').map((c) => [JSON.parse(c.args).n, c]));
  for (const method of ['charge', 'guarded', 'fail', 'look']) {
    const happened = count(l.effects(method));
    for (const [n, times] of happened) {
      const row = rows.get(n);
      assert.ok(row, `${method} ${n} has happened and is not in the record`);
      const asked = l.allowed.has(`${row.id}/${row.seq}`);
      if (method === 'guarded') assert.ok(asked, `${n} ran and nobody had approved it`);
      // A human may send once more what may have been sent: that is what they are asked.
      const most = row.decision === 'ask' && asked ? 2 : 1;
      if (method !== 'look') assert.ok(times <= most, `${method} ${n} ran ${times} times: ${JSON.stringify(row)}`);
    }
    for (const [n, row] of rows) {
      if (row.method === method && ['applied', 'failed'].includes(row.state)) assert.ok(happened.has(n), `${method} ${n} is ${row.state} and has not happened`);
    }
  }
  const left = readdirSync(dirname(l.store)).filter((name) => /\.(owner|sock)$/.test(name));
  assert.deepEqual(left, [], 'what the dead held is removed');
  return s;
}

test(`a server killed ${KILLS} times loses nothing that it said, and does nothing twice`, { timeout: 600_000 }, async (t) => {
  t.diagnostic(`CM_SEED=${SEED}`);
  const lanes = Array.from({ length: LANES }, (_, i) => lane(t, i, numbers(SEED + i)));
  await Promise.all(lanes.map(async (l, i) => {
    for (let kill = 0; kill * LANES + i < KILLS; kill++) await live(t, l, kill % MEASURE === 0);
    await finish(t, l);
  }));
  const all = { executions: 0, acknowledged: 0, effects: 0, calls: {} };
  for (const l of lanes) {
    const s = verify(l);
    all.executions += s.executions.length;
    all.acknowledged += l.acknowledged.size;
    for (const method of ['charge', 'guarded', 'fail', 'look']) all.effects += l.effects(method).length;
    for (const c of s.calls) all.calls[c.state] = (all.calls[c.state] ?? 0) + 1;
  }
  t.diagnostic(JSON.stringify(all));
  // Otherwise the moments were badly chosen, and nothing was shown.
  assert.ok(all.acknowledged > KILLS / 10 && all.effects > KILLS / 2, JSON.stringify(all));
});
