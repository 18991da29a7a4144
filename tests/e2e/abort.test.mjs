// A program's requests whose signal is aborted, through the real program: the request ends at its server, the record says how, and a
// program that goes on from its record goes the same way.
import assert from 'node:assert/strict';
import test from 'node:test';
import { httpServer, privateHome, run } from './lib.mjs';

/** A server where /slow never answers; /hung?n=N and /ended?n=N answer when N of such requests hang, and have been given up. */
async function patientServer(t) {
  const seen = { '/hung': 0, '/ended': 0 };
  let waiting = [];
  const count = (which) => {
    seen[which]++;
    for (const go of waiting.splice(0)) go();
  };
  return httpServer(t, async (rq, res) => {
    if (rq.path === '/slow') {
      res.on('close', () => count('/ended'));
      count('/hung');
      return undefined;
    }
    while (seen[rq.path] < Number(rq.query.get('n'))) await new Promise((go) => waiting.push(go));
    return 'yes';
  });
}

async function world(t, more = {}) {
  const server = await patientServer(t), home = privateHome(t);
  const config = home.config({ codemode: { fetch: [server.url], ...more } });
  return { server, command: (...args) => run([...args, '--json', '--config', config], { env: home.env, cwd: home.cwd }) };
}

const states = (out) => out.json.calls.map((c) => `${c.method} ${c.state} ${c.error?.code ?? ''}`.trim());

test('a request that is aborted ends at its server, and what may have taken effect is said', async (t) => {
  const { server, command } = await world(t);
  const out = await command('run', '-e', `
    const c = new AbortController(), { signal } = c, slow = '${server.url}/slow';
    const all = [fetch(slow, { signal }), fetch(slow, { method: 'POST', body: 'x', signal }), fetch(new Request(slow, { method: 'PUT', body: 'x', signal }))];
    await fetch('${server.url}/hung?n=3');
    c.abort(new Error('enough'));
    const said = await Promise.all(all.map((p) => p.catch((e) => e.message)));
    await fetch('${server.url}/ended?n=3');
    return said;`);
  assert.deepEqual(out.json.result, ['enough', 'enough', 'enough'], out.stdout + out.stderr);
  assert.deepEqual(states(out).sort(), ['get applied', 'get applied', 'get cancelled cancelled', 'post unknown unknown', 'put unknown unknown']);
  assert.match(out.json.calls[1].error.message, /^fetch\.post was aborted by the program after it had been sent: it may have taken effect\.$/);
  assert.deepEqual(out.json.warnings.sort(), ['post', 'put'].map((m) => `fetch.${m} (line 3) was aborted after it had been sent: it may have taken effect.`));
});

test('a time limit that passes is one, also for a program that ends at once, and one that is late does nothing', async (t) => {
  const { server, command } = await world(t);
  const out = await command('run', '-e', `
    const answer = await fetch('${server.url}/hung?n=0', { signal: AbortSignal.timeout(100000) });
    return await fetch('${server.url}/slow', { method: 'POST', signal: AbortSignal.timeout(1) }).catch((e) => [e.name, answer.status]);`);
  assert.deepEqual(out.json.result, ['TimeoutError', 200], out.stdout + out.stderr);
  assert.equal(out.json.calls[0].state, 'applied');
  assert.match(out.json.calls[1].state, /^(?:unknown|cancelled)$/);
  assert.equal(out.json.warnings?.length ?? 0, out.json.calls[1].state === 'unknown' ? 1 : 0);
});

test('a request that nobody has approved is withdrawn, and a replay goes the same way', async (t) => {
  const { server, command } = await world(t, { policy: [{ match: 'fetch.delete', action: 'approve' }] });
  const first = await command('run', '-e', `
    const c = new AbortController(), { signal } = c, saw = [];
    const slow = fetch('${server.url}/slow', { method: 'POST', signal }), gone = fetch('${server.url}/gone', { method: 'DELETE', signal });
    await fetch('${server.url}/hung?n=1');
    c.abort();
    for (const p of [slow, gone]) await p.catch((e) => saw.push(e.name));
    await fetch('${server.url}/ended?n=1');
    await fetch('${server.url}/hung?n=0&saw=' + [saw, Date.now(), Math.random()], { method: 'DELETE' });
    await fetch('${server.url}/hung?n=0&saw=' + [Date.now(), Math.random()], { method: 'DELETE' });
    return saw;`);
  assert.equal(first.status, 3, first.stdout + first.stderr);
  assert.deepEqual(first.json.pending.map((p) => p.args.url.includes('AbortError')), [true]);
  const id = first.json.executionId, sent = server.requests.length;
  const second = await command('approve', id);
  assert.equal(second.status, 3, second.stdout + second.stderr);
  const third = await command('approve', id);
  assert.deepEqual(third.json.result, ['AbortError', 'AbortError'], third.stdout + third.stderr);
  assert.deepEqual(states(third), ['post unknown unknown', 'delete cancelled cancelled', 'get applied', 'get applied', 'delete applied', 'delete applied']);
  assert.match(third.json.calls[1].error.message, /before it was sent/);
  assert.deepEqual(server.requests.slice(sent).map((rq) => rq.method), ['DELETE', 'DELETE'], 'nothing is sent again');
  assert.match(third.json.warnings.join(), /fetch\.post \(line 3\) was aborted after it had been sent/);
});
