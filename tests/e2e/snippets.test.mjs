// Saved programs through the real programs: the command line, a server and its clients, and a process that goes on with what another began.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { mcpClient, privateHome, run } from './lib.mjs';

const TOOLS = {
  codemode: {
    toolsets: {
      local: {
        tools: {
          echo: { command: ['cat'], description: 'Gives its arguments back.', readOnly: true },
          note: { command: ['sh', '-c', 'cat >> notes; echo 1'], requiresApproval: true },
        },
      },
    },
  },
};

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const words = (text) => text.replace(/\s+/g, ' ');

/** An execution of `code`, saved. */
async function save(h, name, code, ...options) {
  const { json } = await run(['run', '--json', ...h.store, '-e', code], h);
  const saved = await run(['snippets', 'save', name, json.executionId, ...h.store, ...options], h);
  assert.equal(saved.stderr, '');
  assert.equal(saved.status, 0);
  return json.executionId;
}

function home(t, config) {
  const h = privateHome(t);
  return Object.assign(h, { store: ['--config', h.config(config)] });
}

test('a program is saved, listed, shown, run and deleted', async (t) => {
  const h = home(t, TOOLS), code = 'async (input = { n: 1 }) => (await local.echo({ n: input.n * 2 })).n';
  const id = await save(h, 'double', code, '--description', 'Twice a number', '--schema', JSON.stringify(SCHEMA));
  const { json: { snippets } } = await run(['snippets', '--json', ...h.store], h);
  const [{ savedAt, ...rest }] = snippets;
  assert.ok(Math.abs(Date.now() - savedAt) < 600_000);
  assert.deepEqual(rest, { name: 'double', description: 'Twice a number', connectors: ['local'], inputSchema: SCHEMA, executionId: id });
  const list = await run(['snippets', ...h.store], h);
  assert.match(list.stdout, /^ {2}NAME +CALLS +DESCRIPTION +SAVED\n {2}double +local +Twice a number +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/);
  assert.equal((await run(['snippets', 'show', 'double', ...h.store], h)).stdout, `${code}\n`);
  assert.equal((await run(['snippets', 'show', 'double', '--json', ...h.store], h)).json.code, code);
  assert.equal((await run(['run', '--snippet', 'double', '--input', '{"n": 21}', ...h.store], h)).stdout, '42\n');
  assert.deepEqual((await run(['snippets', 'delete', 'double', '--json', ...h.store], h)).json, { deleted: 'double' });
  const none = await run(['snippets', ...h.store], h);
  assert.equal(none.stdout, '');
  assert.match(none.stderr, /no snippets; 'codemode snippets save NAME ID'/);
});

test('what cannot be saved or run is said with what would be', async (t) => {
  const h = home(t, TOOLS);
  const schema = join(h.cwd ?? h.env.HOME, 'schema.json');
  writeFileSync(schema, JSON.stringify(SCHEMA));
  const id = await save(h, 'echo_it', 'async (input) => input && await local.echo(input)', '--schema', schema);
  const broken = (await run(['run', '--json', ...h.store, '-e', 'return 1 +'], h)).json.executionId;
  const cases = [
    [['snippets', 'save', 'a.b', id], 2, /'a\.b': expected 1 to 64 letters/],
    [['snippets', 'save', 'local', id], 2, /a connector has this name/],
    [['snippets', 'save', 'x', 'exec_0'], 1, /no execution 'exec_0'/],
    [['snippets', 'save', 'x', broken], 2, /does not parse \(The program ends too soon: a value is missing behind \+\)/],
    [['snippets', 'save', 'x', id, '--schema', 'nowhere.json'], 1, /nowhere\.json/],
    [['snippets', 'save', 'x', id, '--schema', '{"type"'], 2, /the input schema/],
    [['snippets', 'save', 'x'], 2, /expected a name and the id/],
    [['snippets', 'show'], 2, /show which/],
    [['snippets', 'show', 'echo_ti'], 1, /There is no snippet "echo_ti"\. Did you mean "echo_it"\?/],
    [['snippets', 'delete', 'none'], 1, /There is no snippet "none"\. Snippets here: echo_it\./],
    [['snippets', 'list'], 2, /'list': expected 'save NAME ID'/],
    [['snippets', '--description', 'x'], 2, /are for 'save'/],
    [['run', '--snippet', 'echo_it', 'file.js'], 2, /give no other one/],
    [['run', '--snippet', 'none'], 1, /There is no snippet "none"/],
    [['run', '--snippet', 'echo_it'], 2, /The input of snippet "echo_it": .*n.* It takes \{ n \}/],
    [['run', '--snippet', 'echo_it', '--input', '{"n":"1"}'], 2, /n must be an integer/],
  ];
  for (const [args, status, pattern] of cases) {
    const out = await run([...args, ...h.store], h);
    assert.match(out.stderr, pattern);
    assert.equal(out.status, status, `${args.join(' ')}: ${out.stderr}`);
    assert.equal(out.stdout, '');
  }
  const { json } = await run(['executions', '--json', ...h.store], h);
  assert.equal(json.executions.length, 2, 'what was refused left no execution');
});

test('a connector that it calls and that is gone is named, others do not matter', async (t) => {
  const h = home(t, { codemode: { toolsets: { ...TOOLS.codemode.toolsets, spare: TOOLS.codemode.toolsets.local } } });
  await save(h, 'calls', 'return (await local.echo({ n: 1 })).n');
  h.store = ['--config', h.config(TOOLS)];
  assert.equal((await run(['run', '--snippet', 'calls', ...h.store], h)).stdout, '1\n');
  h.store = ['--config', h.config({ codemode: { toolsets: { spare: TOOLS.codemode.toolsets.local } } })];
  const direct = await run(['run', '--snippet', 'calls', ...h.store], h);
  assert.equal(direct.status, 1);
  assert.match(words(direct.stderr), /Snippet "calls" calls local, which is not configured here\. Connectors here: spare\./);
  const { json } = await run(['run', '--json', ...h.store, '-e', 'try { await codemode.run("calls") } catch (e) { return [e.code, e.message] }'], h);
  assert.equal(json.result[0], 'unknown_connector');
});

test('a server knows what another process saves, and names it in its tool', async (t) => {
  const h = home(t, TOOLS);
  const { client } = await mcpClient(t, { args: h.store, env: h.env, cwd: h.cwd });
  const call = async (code) => (await client.callTool({ name: 'codemode', arguments: { code } })).structuredContent;
  const described = async () => (await client.listTools()).tools[0].description;
  assert.match(await described(), /## Snippets\n.*codemode\.run\("name", input\)/);
  assert.equal((await call('return (await codemode.search("twice")).total')).result, 0);
  await save(h, 'double', 'async (input) => input && input.n * 2', '--description', 'Twice a number');
  assert.match(await described(), /- `double` — Twice a number\n/);
  const found = await call('return (await codemode.search("twice")).results.map(r => [r.path, r.kind])');
  assert.deepEqual(found.result, [['double', 'snippet']]);
  const ran = await call('return await codemode.run("double", { n: 4 })');
  assert.equal(ran.result, 8);
  assert.deepEqual(ran.calls.map((c) => [c.connector, c.method, c.args, c.state]), [['codemode', 'run:double', ['double', { n: 4 }], 'applied']]);
});

test('search and describe of the command line know snippets', async (t) => {
  const h = home(t, TOOLS);
  await save(h, 'double', 'return input.n * 2', '--description', 'Twice a number', '--schema', JSON.stringify(SCHEMA));
  const { json } = await run(['tools', 'search', 'twice', '--json', ...h.store], h);
  assert.deepEqual(json.results.map((r) => [r.path, r.kind]), [['double', 'snippet']]);
  const { stdout } = await run(['tools', 'describe', 'double', ...h.store], h);
  assert.equal(stdout, 'codemode.run("double", input: { n: number }): Promise<unknown>;\n\ntype Input = {\n    n: number;\n};\n\n// The program:\nreturn input.n * 2\n');
  assert.match((await run(['tools', ...h.store], h)).stdout, /codemode\.run\("double", input: \{ n: number \}\)/);
});

test('a run that waits inside of a snippet pauses as a whole, and goes on in another process', async (t) => {
  const h = home(t, TOOLS);
  await save(h, 'notes', 'if (input) return await local.note({ text: input })');
  const paused = await run(['run', '--json', ...h.store, '-e', 'return [await codemode.run("notes", "one"), "end"]'], h);
  assert.equal(paused.status, 3);
  assert.deepEqual(paused.json.pending.map((p) => [p.seq, p.connector, p.method, p.args]), [[1, 'local', 'note', { text: 'one' }]]);
  assert.deepEqual(paused.json.calls.map((c) => [c.method, c.state]), [['run:notes', 'executing'], ['note', 'pending']]);
  await run(['snippets', 'delete', 'notes', ...h.store], h);
  const { json } = await run(['approve', paused.json.executionId, '--yes', '--json', ...h.store], h);
  assert.deepEqual([json.status, json.result], ['completed', [1, 'end']], 'the text that ran is in the record');
});
