// codemode serve, seen by the official MCP client: one tool, structured outcomes, cancellation, progress, an orderly end, and
// no growth over a thousand runs.
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, mcpClient, npmServer, privateHome, run, SANITIZED, start, untilOutput } from './lib.mjs';

const EVERYTHING = npmServer('@modelcontextprotocol/server-everything');

function configured(t) {
  const home = privateHome(t);
  const [command, ...args] = EVERYTHING;
  const tools = {
    word_count: { command: ['wc', '-w'], description: 'Count words.', readOnly: true },
    // Says that it has begun, and then waits to be ended.
    wait: { command: ['sh', '-c', 'echo begun >&2; exec sleep 1000'] },
  };
  const config = home.config({ mcpServers: { everything: { command, args } }, codemode: { toolsets: { local: { tools } } } });
  return { ...home, args: ['--config', config] };
}

const call = (client, code, options) => client.callTool({ name: 'codemode', arguments: { code } }, undefined, options);

test('a client sees one tool whose description names the connectors and stays short', async (t) => {
  const { client } = await mcpClient(t, configured(t));
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((x) => x.name), ['codemode']);
  const [tool] = tools;
  assert.match(tool.description, /The ONLY globals are `everything`, `local` and `codemode`/);
  assert.match(tool.description, /JavaScript/);
  assert.deepEqual(tool.inputSchema.required, ['code']);
  assert.equal(tool.inputSchema.additionalProperties, false);
  assert.equal(tool.outputSchema.type, 'object');
  // About four characters a token: under 1,000 tokens in all.
  assert.ok(JSON.stringify(tool).length < 4000, `the tool takes ${JSON.stringify(tool).length} characters`);
  assert.equal(client.getServerVersion().name, 'codemode');
});

test('a program that calls a server gives its result as structured content and as text', async (t) => {
  const { client } = await mcpClient(t, configured(t));
  await client.listTools(); // the client checks structured content against the output schema from here on
  const answer = await call(client, 'console.log("hi"); return { sum: await everything.get_sum({ a: 40, b: 2 }) };');
  assert.ok(!answer.isError);
  assert.equal(answer.structuredContent.status, 'completed');
  assert.match(answer.structuredContent.executionId, /^exec_\d{16}_[0-9a-f-]{36}$/);
  assert.match(answer.structuredContent.result.sum, /42/);
  assert.deepEqual(answer.structuredContent.logs, ['hi']);
  assert.equal(answer.structuredContent.calls[0].method, 'get_sum');
  assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
});

test('a program that throws is an error with its outcome', async (t) => {
  const { client } = await mcpClient(t, configured(t));
  await client.listTools();
  const answer = await call(client, 'const o = {};\no.missing();');
  assert.equal(answer.isError, true);
  assert.equal(answer.structuredContent.status, 'error');
  assert.equal(answer.structuredContent.error.name, 'TypeError');
  assert.equal(answer.structuredContent.error.line, 2);
});

test('arguments that are none say what would be accepted', async (t) => {
  const { client } = await mcpClient(t, configured(t));
  for (const args of [{}, { code: 7 }, { code: 'return 1', language: 'js' }]) {
    const answer = await client.callTool({ name: 'codemode', arguments: args });
    assert.equal(answer.isError, true);
    assert.match(answer.content[0].text, /code/);
  }
  await assert.rejects(client.callTool({ name: 'run', arguments: {} }), /codemode/);
});

test('cancelling a request cancels its execution', async (t) => {
  const setup = configured(t);
  const { client } = await mcpClient(t, setup);
  const abort = new AbortController();
  let progressed;
  const progress = new Promise((resolve) => (progressed = resolve));
  const answer = call(client, 'return await local.wait({})', { signal: abort.signal, onprogress: progressed });
  answer.catch(() => {});
  // Progress tells that it runs, and what it waits for.
  assert.match((await progress).message ?? '', /local\.wait/);
  abort.abort();
  await assert.rejects(answer);
  // The same server goes on, and the log says what became of it.
  assert.equal((await call(client, 'return 1')).structuredContent.result, 1);
  const { json } = await run(['executions', '--json', ...setup.args], setup);
  assert.deepEqual(json.executions.map((e) => e.status), ['completed', 'cancelled']);
});

test('a server that does not start is named and the others work', async (t) => {
  const home = privateHome(t);
  const config = home.config({
    mcpServers: { gone: { command: 'no-such-program-anywhere' } },
    codemode: { toolsets: { local: { tools: { word_count: { command: ['wc', '-w'] } } } } },
  });
  const { client, transport, stderr } = await mcpClient(t, { ...home, args: ['--config', config] });
  const answer = await call(client, 'return await local.word_count({ a: "b" })');
  assert.equal(answer.structuredContent.result, 1);
  const failed = await call(client, 'return await gone.x()');
  assert.match(failed.structuredContent.error.message, /gone: .*no-such-program-anywhere/);
  assert.match(stderr(), /gone: .*no-such-program-anywhere/);
  assert.equal(stderr().match(/^codemode: gone/gm).length, 1);
  await transport.close();
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} ends it with status 0, and what it ran with it`, async (t) => {
    const setup = configured(t);
    const child = start(['serve', ...setup.args], { ...setup, t });
    child.stdout.setEncoding('utf8');
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    await untilOutput(child.stdout, /"id":1/);
    child.kill(signal);
    const [status] = await once(child, 'exit');
    assert.equal(status, 0);
  });
}

test('the end of standard input ends it after what is in flight was answered', async (t) => {
  const setup = configured(t);
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'codemode', arguments: { code: 'return await local.word_count({})' } } };
  const { status, stdout } = await run(['serve', ...setup.args], { ...setup, stdin: `${JSON.stringify(request)}\n` });
  assert.equal(status, 0);
  const lines = stdout.trim().split('\n').map((line) => JSON.parse(line)); // nothing but the protocol
  assert.equal(lines.find((x) => x.id === 1).result.structuredContent.result, 1);
});

test('standard input or output may be a file or /dev/null', async (t) => {
  const h = configured(t);
  writeFileSync(join(h.cwd, 'in'), `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })}\n`);
  for (const redirection of ['<in', '<in >out', '</dev/null', '<in >/dev/null']) {
    const { status, stderr } = await run(['-c', `"$0" serve --config codemode.json ${redirection}`, CODEMODE], { ...h, program: 'sh' });
    assert.equal(status, 0, `${redirection}: ${stderr}`);
  }
  assert.deepEqual(JSON.parse(readFileSync(join(h.cwd, 'out'), 'utf8')), { jsonrpc: '2.0', id: 7, result: {} });
});

/** A worker is a socket and a pidfd of the host; how many are kept ready goes up and down, within the pool's bound. */
function footprint(pid) {
  const kb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed since it was listed
    }
  });
  const workers = links.filter((link) => link.includes('[pidfd]')).length;
  return { kb, workers, fds: links.length - 2 * workers };
}

test('a thousand runs later it has no more memory and no more descriptors than after a hundred', { timeout: 300_000 }, async (t) => {
  const { client, transport } = await mcpClient(t, configured(t));
  const once_ = async (i) => {
    const answer = await call(client, `return [${i}, await everything.echo({ message: "m" })]`);
    assert.equal(answer.structuredContent.result[0], i);
  };
  for (let i = 0; i < 100; i++) await once_(i);
  const before = footprint(transport.pid);
  for (let i = 100; i < 1000; i++) await once_(i);
  const after = footprint(transport.pid);
  t.diagnostic(`resident ${before.kb} kB after 100 runs, ${after.kb} kB after 1000; descriptors ${before.fds}, ${after.fds}; workers ${before.workers}, ${after.workers}`);
  assert.ok(after.fds <= before.fds + 2, `descriptors: ${before.fds} → ${after.fds}`);
  assert.ok(after.workers <= 8, `workers: ${after.workers}`);
  if (!SANITIZED) assert.ok(after.kb <= before.kb + 2048, `resident: ${before.kb} kB → ${after.kb} kB`);
});
