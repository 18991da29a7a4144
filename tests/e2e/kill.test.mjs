// The server is killed, again and again, at moments that a seed decides, while programs call tools that have effects. Whatever the
// moment: what was acknowledged stands in the record, what had to be approved has not run before it was, nothing has run twice that nobody
// said should, every effect has a call in the record, and the database is sound. Meanwhile somebody at another terminal approves, edits, rejects and
// cancels what waits, and is killed at times as well: a call ran no more often than it was approved, and what was rejected has not run.
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
    allowed: new Map(), // "execution/seq" → how often somebody began to approve it
    decisions: {}, // how many of each kind were begun
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

/** Of what was told to have ended nobody may be told anything else; that it waited can be heard late. */
function told(l, outcome) {
  if (!outcome?.executionId) return;
  const before = l.acknowledged.get(outcome.executionId);
  if (!before || before.status === 'paused') l.acknowledged.set(outcome.executionId, outcome);
  else assert.ok(['paused', before.status].includes(outcome.status), `${outcome.executionId} was told to be ${before.status}, and then ${outcome.status}`);
}

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

const note = (l, what) => (l.decisions[what] = (l.decisions[what] ?? 0) + 1);

/** A command of somebody at another terminal, to its end or until a moment; what it printed, if it came so far. */
async function say(t, l, args, untilMs) {
  const child = start([...args, '--json', ...l.args], { ...l.home, t });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (out[name] += text));
  const ended = once(child, 'close');
  if (untilMs !== undefined) await Promise.race([ended, passes(untilMs).then(() => child.kill('SIGKILL'))]);
  const [, signal] = await ended;
  if (signal) return note(l, 'killed') && undefined;
  if (!out.stdout) assert.match(out.stderr, /^codemode: \S/, `${args.join(' ')} neither did it nor said why not`);
  return out.stdout ? JSON.parse(out.stdout) : undefined;
}

/** What somebody says about some of the calls of one execution that wait: the arguments of a command. */
function decision(l, calls) {
  const kind = l.pick(['approve', 'approve', 'approve', 'looked', 'edit', 'reject', 'reject all', 'cancel']);
  const id = calls[0].executionId;
  const some = calls.slice(0, kind === 'looked' || kind === 'edit' ? 1 : 1 + Math.floor(l.random() * calls.length));
  const seqs = some.map((c) => String(c.seq));
  // What may have happened already is to be found by its own name.
  const other = some[0].rule.startsWith('interrupted') ? some[0].args : { n: `${some[0].args.n}+` };
  note(l, kind);
  // From here on each may run once more.
  if (!['reject', 'reject all', 'cancel'].includes(kind)) for (const seq of seqs) l.allowed.set(`${id}/${seq}`, (l.allowed.get(`${id}/${seq}`) ?? 0) + 1);
  return {
    approve: ['approve', id, ...seqs],
    looked: ['approve', id, ...seqs, '--hash', some[0].argsHash],
    edit: ['approve', id, ...seqs, '--args', JSON.stringify(other)],
    reject: ['reject', id, ...seqs, '--reason', 'not now'],
    'reject all': ['reject', id],
    cancel: ['cancel', id],
  }[kind];
}

/** Somebody at another terminal, who decides a few times, while the server lives or after it has died. */
async function somebody(t, l) {
  await passes(l.random() * l.lifeMs * 0.5);
  for (let times = 1 + Math.floor(l.random() * 3); times > 0; times--) {
    const { pending } = await say(t, l, ['pending']);
    if (!pending.length) return;
    const { executionId } = l.pick(pending);
    const args = decision(l, pending.filter((c) => c.executionId === executionId));
    told(l, await say(t, l, args, l.random() < 0.3 ? l.random() * l.lifeMs : undefined));
  }
}

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
  if (l.lifeMs && l.random() < 0.7) others.push(somebody(t, l));
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

/**
 * A server that nobody kills takes up what was left, and somebody lets go on what was interrupted too often for that; resolves when what can go
 * on has ended.
 */
async function finish(t, l) {
  const child = serve(t, l, []);
  const waits = (s) => (e) => e.state === 'running' || (e.state === 'paused' && !s.calls.some((c) => c.id === e.id && c.state === 'pending' && !c.decided));
  for (;;) {
    const s = inspect(l);
    const left = s.executions.filter(waits(s));
    if (!left.length) break;
    for (const held of left.filter((e) => e.state === 'paused' && e.interruptions > 3)) {
      note(l, 'let go on');
      told(l, await say(t, l, ['approve', held.id]));
    }
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
      // What may have been sent is sent once more when somebody who was asked about it says so, and never otherwise.
      const most = (method === 'guarded' ? 0 : 1) + (l.allowed.get(`${row.id}/${row.seq}`) ?? 0);
      if (method !== 'look') assert.ok(times <= most, `${method} ${n} ran ${times} times and may ${most}: ${JSON.stringify(row)}`);
      if (row.decision !== 'ask' && method !== 'look') assert.equal(times, 1, `${method} ${n} ran ${times} times: ${JSON.stringify(row)}`);
    }
    for (const [n, row] of rows) {
      const cannot = row.method === method && row.decision !== 'ask' && ['rejected', 'pending', 'cancelled'].includes(row.state);
      if (cannot) assert.ok(!happened.has(n), `${method} ${n} is ${row.state} and has happened`);
    }
    for (const [n, row] of rows) {
      if (row.method === method && ['applied', 'failed'].includes(row.state)) assert.ok(happened.has(n), `${method} ${n} is ${row.state} and has not happened`);
    }
  }
  for (const c of s.calls) {
    const ended = !['running', 'paused'].includes(states.get(c.id));
    if (ended && c.connector) assert.ok(!['executing', 'pending'].includes(c.state), `${c.id} is ${states.get(c.id)}, and its call ${c.seq} is ${c.state}`);
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
  const all = { executions: 0, acknowledged: 0, effects: 0, approved: 0, calls: {}, decisions: {} };
  for (const l of lanes) {
    const s = verify(l);
    all.executions += s.executions.length;
    all.acknowledged += l.acknowledged.size;
    for (const method of ['charge', 'guarded', 'fail', 'look']) all.effects += l.effects(method).length;
    all.approved += l.effects('guarded').length;
    for (const c of s.calls) all.calls[c.state] = (all.calls[c.state] ?? 0) + 1;
    for (const [what, n] of Object.entries(l.decisions)) all.decisions[what] = (all.decisions[what] ?? 0) + n;
  }
  t.diagnostic(JSON.stringify(all));
  // Otherwise the moments were badly chosen, and nothing was shown.
  assert.ok(all.acknowledged > KILLS / 10 && all.effects > KILLS / 2 && all.approved > KILLS / 40, JSON.stringify(all));
});
