// Undoing what a program did, from the command line: tool sets, services with a configured revert, a revert whose process was killed, and
// what `check` says of reverts that cannot work.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { httpServer, privateHome, run, start } from './lib.mjs';

const write = (file) => ['sh', '-c', `cat >> ${file}; echo >> ${file}`];
const TOOLS = {
  add: { command: ['cat'], revert: { command: write('undone') } },
  sticky: { command: ['cat'], revert: { command: ['sh', '-c', 'test -e loose || { echo stuck >&2; exit 1; }; cat >> undone; echo >> undone'] } },
  slow: { command: ['cat'], revert: { command: ['sh', '-c', 'cat >> undone; echo >> undone; echo begun >> begun; exec sleep 60'] } },
  whose: { command: ['printenv', 'CODEMODE_EXECUTION_ID'] },
};

function world(t, ours = {}) {
  const h = privateHome(t);
  const config = h.config({ codemode: { toolsets: { local: { tools: TOOLS } }, ...ours } });
  const undone = () => (existsSync(join(h.cwd, 'undone')) ? readFileSync(join(h.cwd, 'undone'), 'utf8').trimEnd().split('\n') : []);
  const command = (...args) => run([...args, '--config', config], h);
  const done = async (code) => {
    const r = await command('run', '--json', '-e', code);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    return r.json.executionId;
  };
  return { h, config, undone, command, done };
}

test('what a program did is undone, the newest first, and what failed is undone the next time', async (t) => {
  const w = world(t);
  const id = await w.done('await local.add({ n: 1 }); await local.sticky({ n: 2 }); await local.add({ n: 3 }); return local.whose()');
  const first = await w.command('rollback', id, '--json');
  assert.equal(first.status, 1);
  assert.deepEqual(w.undone(), ['{"args":{"n":3},"result":{"n":3}}', '{"args":{"n":1},"result":{"n":1}}']);
  assert.equal(first.json.status, 'completed');
  assert.deepEqual(first.json.reverted.map((c) => c.seq), [2, 0]);
  assert.match(first.json.failed[0].error, /stuck/);
  assert.deepEqual(first.json.skipped.map((c) => c.method), ['whose']);
  writeFileSync(join(w.h.cwd, 'loose'), '');
  const second = await w.command('rollback', id);
  assert.equal(second.status, 0, second.stderr);
  assert.equal(w.undone().at(-1), '{"args":{"n":2},"result":{"n":2}}');
  assert.equal(w.undone().length, 3);
  const shown = (await w.command('executions', id, '--json')).json;
  assert.equal(shown.status, 'rolled_back');
  assert.equal(shown.result, id); // the commands knew whose they were
  assert.ok(shown.calls.slice(0, 3).every((c) => c.state === 'reverted' && c.revertedAt && c.revertedBy), JSON.stringify(shown.calls));
});

test('a revert whose process was killed is asked about, and not sent again unless somebody says so', async (t) => {
  const w = world(t);
  const id = await w.done('return local.slow({ n: 1 })');
  const child = start(['rollback', id, '--config', w.config], { ...w.h, t });
  const begun = join(w.h.cwd, 'begun');
  while (!existsSync(begun)) await once(start(['pending', '--config', w.config], { ...w.h, t }), 'exit');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const asked = await w.command('rollback', id, '--json');
  assert.equal(asked.status, 1);
  assert.equal(asked.json.failed[0].code, 'revert_unknown');
  assert.equal(w.undone().length, 1);
  const settled = await w.command('rollback', id, '0', '--done');
  assert.equal(settled.status, 0, settled.stderr);
  assert.equal(w.undone().length, 1);
  assert.equal((await w.command('executions', id, '--json')).json.status, 'rolled_back');
});

test('an operation of a service is undone by another one, with mapped arguments', async (t) => {
  const seen = [];
  const server = await httpServer(t, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.method === 'POST' ? '{"id":17,"tags":["a"]}' : '{}');
  });
  const h = privateHome(t);
  writeFileSync(join(h.cwd, 'pets.json'), JSON.stringify({
    openapi: '3.0.0', info: { title: 'Pets', version: '1' },
    paths: {
      '/pets': { post: { operationId: 'createPet', responses: { 200: { description: 'ok' } } } },
      '/pets/{id}': { delete: { operationId: 'deletePet', responses: { 200: { description: 'ok' } },
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }] } },
    },
  }));
  const config = h.config({ codemode: {
    openapi: { pets: { spec: join(h.cwd, 'pets.json'), baseUrl: server.url } },
    policy: [{ match: 'pets.deletePet', action: 'deny' }], // programs may not; a human who undoes may
    reverts: { 'pets.createPet': { call: 'pets.deletePet', args: { id: '$result.id' } } },
  } });
  const check = await run(['check', '--config', config], h);
  assert.equal(check.status, 0, check.stdout + check.stderr);
  const made = await run(['run', '--json', '--config', config, '-e', 'return pets.createPet({})'], h);
  assert.equal(made.status, 0, made.stdout);
  const back = await run(['rollback', made.json.executionId, '--config', config], h);
  assert.equal(back.status, 0, back.stderr);
  assert.deepEqual(seen.map((line) => line.replace(/^(\S+) \S*?(\/pets.*)$/, '$1 $2')), ['POST /pets', 'DELETE /pets/17']);
});

test('check names reverts that cannot work, and a snippet that is not there', async (t) => {
  const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false };
  const w = world(t, {
    toolsets: { local: { tools: { ...TOOLS, take: { command: ['cat'], inputSchema: schema } } } },
    reverts: {
      'local.add': { call: 'local.take', args: { id: '$args.n' } },
      'local.ad': { call: 'local.take' },
      'local.sticky': { call: 'local.tak' },
      'local.slow': { call: 'local.take', args: { number: 1 } },
      'local.whose': { call: 'local.take', args: { id: 1, number: 1 } },
    },
    transformResult: { snippet: 'shorten' },
  });
  const r = await w.command('check', '--json');
  assert.equal(r.status, 1);
  const error = Object.fromEntries(r.json.reverts.map((x) => [x.method, x.error]));
  assert.equal(error['local.add'], undefined);
  assert.match(error['local.ad'], /^local has no method 'ad'\. Did you mean local\.add\?/);
  assert.match(error['local.sticky'], /^its call local\.tak: local has no method 'tak'\. Did you mean local\.take/);
  assert.equal(error['local.slow'], "its call local.take: it needs the argument 'id', which 'args' does not give");
  assert.equal(error['local.whose'], "its call local.take: it has no argument 'number'");
  assert.match(r.json.transformResult.error, /shorten/);
  const text = (await w.command('check')).stdout;
  assert.match(text, /FAILED +reverts\.local\.slow: its call local\.take: it needs the argument 'id'/);
  assert.match(text, /FAILED +transformResult: .*shorten/);
});

test('what leaves the record after the end is in no file and no answer', async (t) => {
  const w = world(t, { log: { drop: [{ match: 'local.add', args: true, results: true, when: 'completed' }] } });
  const id = await w.done('await local.add({ ssn: "123-45-6789" }); return "done"');
  const shown = await w.command('executions', id, '--json');
  assert.deepEqual(shown.json.calls[0].dropped, ['args', 'result']);
  assert.doesNotMatch(JSON.stringify(shown.json.calls), /123-45-6789/);
  const failed = await w.command('run', '--json', '-e', 'await local.add({ ssn: "987-65-4321" }); throw new Error("no")');
  assert.equal(failed.json.calls[0].args.ssn, '987-65-4321'); // it did not complete
  const back = await w.command('rollback', id, '--json');
  assert.match(back.json.skipped[0].reason, /dropped from the record/);
  assert.deepEqual(w.undone(), []);
});

test('what a snippet makes of a result is told, and the record keeps the result', async (t) => {
  const w = world(t, { transformResult: { snippet: 'shorten' } });
  const id = await w.done('(rows) => Array.isArray(rows) ? { rows: rows.length } : rows');
  assert.equal((await w.command('snippets', 'save', 'shorten', id)).status, 0);
  const r = await w.command('run', '--json', '-e', 'return [1, 2, 3]');
  assert.deepEqual(r.json.result, { rows: 3 }, r.stdout);
  assert.deepEqual((await w.command('executions', r.json.executionId, '--json')).json.result, [1, 2, 3]);
});
