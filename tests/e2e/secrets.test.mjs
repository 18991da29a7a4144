// Secrets at rest: values that the configuration keeps secret are put wherever a value can come from (environment, headers, arguments,
// results, errors, console lines, programs, inputs, names), and then looked for in everything that is kept or said.
import { readdirSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, httpServer, mcpClient, privateHome, run } from './lib.mjs';

/** Two that differ in how they can be spelled; a third that only tools are given. */
const SECRETS = { HEADER_KEY: 'hdr-7f3a91c2d4', QUOTED_KEY: 'say "sésame" & open/close', TOOL_KEY: 'tool-55aa0e77bb' };
const [HEADER, QUOTED, TOOL] = Object.values(SECRETS);

/** Every spelling in which a value could be found again. */
const spellings = Object.values(SECRETS).flatMap((value) => [
  value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), encodeURIComponent(value).replaceAll('%20', '+'),
  Buffer.from(value).toString('base64').replace(/=+$/, ''), Buffer.from(value).toString('hex'),
]);

function without(what, bytes) {
  const text = Buffer.isBuffer(bytes) ? bytes.toString('latin1') : Buffer.from(bytes).toString('latin1');
  for (const s of spellings) {
    const at = text.indexOf(Buffer.from(s).toString('latin1'));
    if (at >= 0) assert.fail(`${what} holds ${JSON.stringify(s)}: …${JSON.stringify(text.slice(Math.max(0, at - 120), at + 80))}…`);
  }
}

/** All files below a folder, the store and its log among them. */
function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((e) => {
    const path = join(folder, e.name);
    return e.isDirectory() ? files(path) : e.isFile() ? [path] : [];
  });
}

async function world(t) {
  const home = privateHome(t);
  const echo = await httpServer(t, ({ headers, query, text }) => ({
    headers: { 'content-type': 'application/json', 'x-seen': headers['x-key'] },
    status: query.get('fail') ? 400 : 200,
    body: { message: `the key was ${headers['x-key']}`, key: headers['x-key'], [headers['x-key']]: 1, text },
  }));
  const spec = {
    openapi: '3.0.0', info: { title: 'e', version: '1' }, servers: [{ url: echo.url }],
    paths: { '/echo': { post: { operationId: 'echo', parameters: [{ name: 'fail', in: 'query', schema: { type: 'string' } }],
      requestBody: { content: { 'application/json': { schema: {} } } }, responses: { 200: { description: 'ok' } } } } },
  };
  home.config(spec, 'spec.json');
  const config = home.config({
    codemode: {
      openapi: { api: { spec: 'spec.json', headers: { 'X-Key': '${HEADER_KEY}', 'X-Other': '${QUOTED_KEY}' } } },
      toolsets: { local: { tools: {
        show: { command: ['sh', '-c', 'printf %s "$KEY"'], env: { KEY: '${TOOL_KEY}' } },
        fail: { command: ['sh', '-c', 'echo "$KEY" >&2; exit 3'], env: { KEY: '${TOOL_KEY}' } },
        cat: { command: ['cat'] },
        guarded: { command: ['cat'], requiresApproval: true },
      } } },
    },
  });
  Object.assign(home.env, SECRETS);
  return { home, args: ['--config', config] };
}

/** Programs by where the secret is. What each must end as is beside it. */
const programs = {
  'a result': ['completed', 'return [await local.show({}), await api.echo({ body: { a: 1 } })]'],
  'an error of a tool': ['error', 'await local.fail({})'],
  'an error of a service': ['error', "await api.echo({ fail: 'y' })"],
  'a caught error, told again': ['error', 'try { await local.fail({}) } catch (e) { console.error(e, e.stderr); throw new Error("x " + e.message + e.stack) }'],
  'the program text': ['completed', `const a = ${JSON.stringify(QUOTED)}; console.log(a, '${HEADER}'); return { a, ['${TOOL}']: [a] }`],
  'arguments': ['completed', `return await local.cat({ n: '${HEADER}', ['${TOOL}']: ${JSON.stringify(QUOTED)} })`],
  'arguments put together': ['completed', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; console.log(s); console.log({ s }); await local.cat({ s }); return s`],
  'bytes': ['completed', `const s = new TextEncoder().encode('${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'); try { await local.cat({ s }) } catch (e) { console.log(e.message) }; return 1`],
  'a step': ['completed', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; return await codemode.step('name ' + s, () => ({ s }))`],
  'an error of the program': ['error', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; const e = new TypeError('bad ' + s); e.detail = s; e.code = s; throw e`],
  'a value thrown': ['error', `throw { s: '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}' }`],
  'a search and a name': ['completed', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; await codemode.search(s); await codemode.describe(s); return 1`],
  'a method that does not exist': ['error', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; await local[s]({})`],
  'a warning': ['completed', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; Promise.reject(new Error(s)); return 1`],
  'what waits for approval': ['paused', `const s = '${HEADER.slice(0, 5)}' + '${HEADER.slice(5)}'; await local.guarded({ s, text: '${TOOL}' }); return s`],
};

for (const [place, [status, code]] of Object.entries(programs)) {
  test(`a secret in ${place} is neither kept nor shown`, async (t) => {
    const { home, args } = await world(t);
    const said = await run(['run', '--json', ...args, '-e', code], home);
    assert.equal(said.json.status, status, said.stdout + said.stderr);
    without('the outcome', said.stdout);
    without('standard error', said.stderr);
    for (const ask of [['executions'], ['executions', said.json.executionId], ['executions', '--json'], ['executions', said.json.executionId, '--json'], ['pending', '--json'], ['pending']]) {
      const r = await run([...ask, ...args], home);
      without(ask.join(' '), r.stdout + r.stderr);
    }
    for (const path of files(join(home.home, 'state'))) without(path, readFileSync(path));
  });
}

test('a secret in an input, a call of one method and a snippet is neither kept nor shown', async (t) => {
  const { home, args } = await world(t);
  const said = [];
  const ask = async (...words) => {
    const r = await run([...words, ...args], home);
    said.push(r.stdout, r.stderr);
    return r;
  };
  await ask('call', 'local.cat', JSON.stringify({ s: HEADER, t: [QUOTED] }));
  const { executionId } = (await ask('run', '--json', '-e', `return '${TOOL}'`)).json;
  const saved = await ask('snippets', 'save', 'mine', executionId, '--description', `uses ${HEADER}`);
  assert.equal(saved.status, 0, saved.stderr);
  await ask('run', '--json', '--snippet', 'mine', '--input', JSON.stringify({ s: HEADER }));
  await ask('snippets', '--json');
  await ask('snippets', 'show', 'mine');
  await ask('run', '-e', `return (`+ `'${HEADER}'`);
  without('what was said', said.join('\n'));
  for (const path of files(join(home.home, 'state'))) without(path, readFileSync(path));
});

test('a served program that holds a secret runs with its name in its place, and is told so', async (t) => {
  const { home, args } = await world(t);
  const { client, stderr } = await mcpClient(t, { ...home, args });
  const answer = await client.callTool({ name: 'codemode', arguments: { code: `console.log('${HEADER}'); return ${JSON.stringify(QUOTED)}` } });
  const outcome = answer.structuredContent;
  assert.equal(outcome.result, '[secret QUOTED_KEY]');
  assert.deepEqual(outcome.logs, ['[secret HEADER_KEY]']);
  assert.match(outcome.warnings.join(), /keeps secret/);
  without('the answer', JSON.stringify(answer));
  await client.close();
  without('standard error', stderr());
  for (const path of files(join(home.home, 'state'))) without(path, readFileSync(path));
});

test('what is looked for is found where it is not taken out', () => {
  // Otherwise all of the above would pass for want of a good look.
  for (const s of spellings) assert.throws(() => without('this', `x${s}y`));
  assert.ok(spawnSync(CODEMODE, ['--version']).status === 0);
});
