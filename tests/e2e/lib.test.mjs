// The shared helpers do what the tests rely on.
import test from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { environment, httpServer, npmServer, privateHome, run, start, untilOutput } from './lib.mjs';

const node = process.execPath;

test('a child gets its input, and its output, status and signal come back', async () => {
  const script = 'process.stdin.pipe(process.stdout); process.stdin.on("end", () => { console.error("done"); process.exitCode = 3; })';
  const r = await run(['-e', script], { program: node, stdin: '{"a":1}' });
  assert.deepEqual([r.status, r.signal, r.stdout, r.stderr], [3, null, '{"a":1}', 'done\n']);
  assert.deepEqual(r.json, { a: 1 });
});

test('a child that does not end is killed and reported with what it said', async () => {
  const forever = run(['-e', 'console.log("here"); setInterval(() => {}, 1e6)'], { program: node, timeoutMs: 1500 });
  await assert.rejects(forever, /not ended after 1500 ms\nhere/);
});

test('a child sees the private home and nothing of the tests own environment', async (t) => {
  process.env.SECRET_OF_THE_TESTS = 'x';
  const home = privateHome(t);
  const r = await run(['-p', 'JSON.stringify(process.env)'], { program: node, env: home.env, cwd: home.cwd });
  assert.equal(r.json.HOME, home.home);
  assert.ok(r.json.XDG_STATE_HOME.startsWith(home.home));
  assert.equal(r.json.SECRET_OF_THE_TESTS, undefined);
  assert.equal('PATH' in environment({ PATH: undefined }), false);
});

test('a private home is gone after its test', async (t) => {
  let path;
  await t.test('writes a configuration', (inner) => {
    path = privateHome(inner).config({ mcpServers: {} });
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { mcpServers: {} });
  });
  assert.equal(existsSync(path), false);
});

test('the HTTP server records requests and answers with what the handler returns', async (t) => {
  const server = await httpServer(t, (request) => {
    if (request.path === '/bad') throw new Error('handler');
    return { status: 201, headers: { 'x-a': 'b' }, body: { got: request.json, q: request.query.get('q') } };
  });
  const answer = await fetch(`${server.url}/pets?q=1`, { method: 'POST', body: '{"n":2}' });
  assert.deepEqual([answer.status, answer.headers.get('x-a'), await answer.json()], [201, 'b', { got: { n: 2 }, q: '1' }]);
  assert.equal((await fetch(`${server.url}/bad`)).status, 500);
  assert.deepEqual(server.requests.map((r) => `${r.method} ${r.path}`), ['POST /pets', 'GET /bad']);
});

test('waiting for output ends with the first match, or with what was said instead', async (t) => {
  const child = start(['-e', 'console.error("port 4", "x"); process.stdin.resume()'], { program: node, t });
  assert.equal((await untilOutput(child.stderr, /port (\d)/))[1], '4');
  const silent = start(['-e', 'console.error("other")'], { program: node, t });
  await assert.rejects(untilOutput(silent.stderr, /port/), /ended without \/port\/:\nother/);
});

test('the locked MCP servers start on this Node', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  for (const [name, ...args] of [['everything'], ['memory'], ['filesystem', privateHome(t).cwd]]) {
    const [command, ...rest] = npmServer(`@modelcontextprotocol/server-${name}`, ...args);
    const client = new Client({ name: 'codemode-tests', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args: rest, env: environment(), stderr: 'ignore' }));
    const { tools } = await client.listTools();
    await client.close();
    assert.ok(tools.length > 5, `${name} has ${tools.length} tools`);
  }
});
