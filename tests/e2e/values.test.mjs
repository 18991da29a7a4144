// Values through every crossing. tests/cases/values/generator.js makes them and says what is to become of them; values.txt has those
// that were thought of. CODEMODE_SEED=N repeats a run of the first.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';
import { caseFile, httpServer, mcpClient, privateHome, run, SANITIZED } from './lib.mjs';

const GENERATOR = readFileSync(caseFile('values/generator.js'), 'utf8');
const SEED = Number(process.env.CODEMODE_SEED ?? 1);
const COUNT = 10_000;

const here = vm.runInThisContext(`(() => { ${GENERATOR}; return { makeRandom, makeValue, shown, sent } })()`);

/** A tool that answers with what it was sent, as data, and one that answers with it as a text. */
const tools = {
  echo: { command: ['cat'] },
  numbers: {
    command: ['printf', '%s', '{"a":1e400,"b":0.30000000000000004,"c":1.0,"d":-0,"e":9007199254740992,"f":9007199254740991,"g":9007199254740993,'
      + '"h":9007199254740993.0,"i":1e30,"j":-9007199254740993,"k":1e-400,"l":100000000000000000000000000000,"m":1.23E4}'],
  },
  fails: { command: ['sh', '-c', 'echo "no such file: x" >&2; exit 3'] },
  text: { command: ['sh', '-c', 'printf "text:"; cat'] },
};

function home(t) {
  const h = privateHome(t);
  h.config = h.config({ codemode: { toolsets: { local: { tools } }, limits: { cpuMs: 60000, subrequests: 1000, memoryMb: SANITIZED ? 2048 : 128 } } });
  return h;
}

const batchOf = (seed, n) => `const r = makeRandom(${seed}); const values = Array.from({ length: ${n} }, () => makeValue(r, 3));`;

function valuesOf(seed, n) {
  const r = here.makeRandom(seed);
  return Array.from({ length: n }, () => here.makeValue(r, 3));
}

/** Run a program made of the generator and `body`. */
async function program(h, body, ...args) {
  const { json } = await run(['run', '-', '--json', '--config', h.config, ...args], { ...h, stdin: `${GENERATOR}\n${body}` });
  assert.equal(json.status, 'completed', JSON.stringify(json.error));
  assert.equal(json.truncated, undefined);
  return json.result;
}

test(`${COUNT} values reach a tool as JSON and come back from it, seed ${SEED}`, async (t) => {
  const size = 500;
  const result = await program(home(t), `
    const bad = [];
    for (let seed = ${SEED}; seed < ${SEED + COUNT / size}; seed++) {
      ${batchOf('seed', size)}
      const text = await local.text({ values });
      if (text !== 'text:{"values":' + sent(values) + '}') bad.push(seed + ': sent');
      const d = difference(received(values), (await local.echo({ values })).values);
      if (d) bad.push(seed + ': ' + d);
    }
    return bad;`);
  assert.deepEqual(result, []);
});

test(`${COUNT} values come back from a step's record as they were, returned and thrown, seed ${SEED}`, async (t) => {
  const size = 250;
  const result = await program(home(t), `
    const bad = [];
    const caught = p => p.then(() => 'nothing was thrown', e => e);
    for (let seed = ${SEED}; seed < ${SEED + COUNT / size}; seed++) {
      ${batchOf('seed', size)}
      const error = Object.assign(new RangeError('all of them', { cause: values }), { values });
      const d = difference(values, await codemode.step('return', () => values))
        || difference(values, await caught(codemode.step('throw', () => { throw values; })))
        || difference(error, await caught(codemode.step('error', async () => { throw error; })));
      if (d) bad.push(seed + ': ' + d);
    }
    return bad;`);
  assert.deepEqual(result, []);
});

test(`${COUNT} values are shown as results, and some of each kind as fields and causes of what is thrown, seed ${SEED}`, async (t) => {
  const h = home(t);
  const { client } = await mcpClient(t, { args: ['--config', h.config], env: h.env, cwd: h.cwd });
  const [maker] = GENERATOR.split('// ---- what is to become of it');
  const outcome = async (code) =>
    JSON.parse((await client.callTool({ name: 'codemode', arguments: { code: `${maker}\n${code}` } })).content[0].text);
  const size = 200;
  for (let seed = SEED; seed < SEED + COUNT / size; seed++) {
    const values = valuesOf(seed, size);
    const { result } = await outcome(`${batchOf(seed, size)} return values;`);
    assert.equal(JSON.stringify(result), JSON.stringify(here.shown(values)), `seed ${seed}`);
    // What a failure tells is bounded: a few values at a time, of those that are small.
    const few = values.map((v, i) => [i, v]).filter(([, v]) => here.sent([v]).length < 300).slice(0, 40);
    const { error } = await outcome(`${batchOf(seed, size)}
      throw Object.assign(new Error('m', { cause: values[${few[0][0]}] }), { list: [${few.map(([i]) => i)}].map(i => values[i]) });`);
    assert.equal(JSON.stringify(error.list), JSON.stringify(here.shown(few.map(([, v]) => v), true)), `seed ${seed}`);
    if (few[0][1] !== undefined) assert.equal(JSON.stringify(error.cause), JSON.stringify(here.shown(few[0][1], true)), `seed ${seed}`);
  }
});

test(`values reach a program as its input, seed ${SEED}`, async (t) => {
  const h = home(t);
  const size = 500; // an argument of a command has 128 KB at most
  await Promise.all([...Array(4).keys()].map(async (i) => {
    const input = here.sent(valuesOf(SEED + i, size));
    const d = await program(h, `${batchOf(SEED + i, size)} return difference(received(values), input);`, '--input', input);
    assert.equal(d, '');
  }));
});

// ---- the cases of values.txt

/** [{name, code, expect: Map}] */
function cases() {
  return readFileSync(caseFile('values/values.txt'), 'utf8').split(/^=== /m).slice(1).map((block) => {
    const [name, ...lines] = block.replace(/\n+$/, '').split('\n');
    const first = lines.findIndex((line) => line.startsWith('--- '));
    const expect = lines.slice(first).map((line) => /^--- (\S+) ?([^]*)$/.exec(line).slice(1));
    return { name, code: lines.slice(0, first).join('\n'), expect: new Map(expect) };
  });
}

test('values that were thought of cross as the cases say', async (t) => {
  const h = home(t);
  const { client } = await mcpClient(t, { args: ['--config', h.config], env: h.env, cwd: h.cwd });
  for (const { name, code, expect } of cases()) {
    await t.test(name, async () => {
      const wrap = (body) => `const make = async () => {\n${code}\n};\n${body}`;
      const outcome = async (body) =>
        JSON.parse((await client.callTool({ name: 'codemode', arguments: { code: wrap(body) } })).content[0].text);
      for (const [key, want] of expect) {
        if (key === 'result') {
          const text = (await client.callTool({ name: 'codemode', arguments: { code: wrap('return await make();') } })).content[0].text;
          assert.ok(['"calls":[', '"warnings":['].some((next) => text.includes(`,"result":${want},${next}`)), text);
        } else if (key === 'absent') {
          assert.equal('result' in (await outcome('return await make();')), false);
        } else if (key === 'refused') {
          const { status, error } = await outcome('return await make();');
          assert.equal(status, 'error');
          assert.ok(error.message.includes(want), error.message);
        } else if (key === 'tool') {
          const { result, error } = await outcome('return await local.text({ v: await make() });');
          assert.equal(result, `text:{"v":${want}}`, JSON.stringify(error));
        } else if (key === 'tool-refused') {
          const { error } = await outcome('return await local.text({ v: await make() });');
          assert.ok(error?.message.includes(want), JSON.stringify(error));
        } else if (key === 'back') {
          const { result, error } = await outcome(`const v = await codemode.step('s', make); return ${want};`);
          assert.equal(result, true, JSON.stringify(error));
        } else if (key === 'error') {
          const { status, error } = await outcome('return await make();');
          assert.equal(status, 'error');
          for (const name of ['line', 'column', 'source', 'stack', 'caret']) delete error[name];
          assert.equal(JSON.stringify(error), want);
        } else {
          assert.fail(`${key}: no such expectation`);
        }
      }
    });
  }
});

// ---- what tools of each kind fail with, and images

/** An MCP server of three tools, written down as what it answers. */
const SERVER = `
const answers = {
  said: { isError: true, content: [{ type: 'text', text: '{"code":"E_GONE","id":9007199254740993}' }] },
  structured: { isError: true, content: [], structuredContent: { message: 'disk full', free: 0 } },
  image: { content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }] },
};
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  let result, error;
  if (method === 'initialize') result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
  else if (method === 'tools/list') result = { tools: ['said', 'structured', 'refuse', 'image'].map(name => ({ name, inputSchema: { type: 'object' } })) };
  else if (params?.name in answers) result = answers[params.name];
  else error = { code: -32001, message: 'not now', data: { retryAfter: 5 } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(error ? { error } : { result }) }));
});`;

test('a failed tool of each kind has its own words, and fields to branch on', async (t) => {
  const h = privateHome(t);
  const http = await httpServer(t, () => ({ status: 409, headers: { 'content-type': 'application/json' }, body: '{"message":"taken","holder":9007199254740993}' }));
  const spec = { openapi: '3.0.0', info: { title: 't', version: '1' }, servers: [{ url: http.url }],
    paths: { '/x': { get: { operationId: 'get_x', responses: { 200: { description: 'ok' } } } } } };
  h.config({ ...spec }, 'spec.json');
  const config = h.config({
    mcpServers: { mcp: { command: process.execPath, args: ['-e', SERVER] } },
    codemode: { openapi: { web: { spec: 'spec.json' } }, toolsets: { local: { tools } } },
  });
  const { json } = await run(['run', '-', '--json', '--config', config], { ...h, stdin: `
    const tell = e => [e instanceof Error, e.name, e.message, { ...e }];
    return Promise.all([mcp.said({}), mcp.structured({}), mcp.refuse({}), web.get_x({}), local.fails({}), local.nothing({})].map(p => p.catch(tell)));` });
  assert.equal(json.status, 'completed', JSON.stringify(json.error));
  const [said, structured, refused, web, local, unknown] = json.result;
  assert.deepEqual(said, [true, 'Error', '{"code":"E_GONE","id":9007199254740993}', { code: 'tool_error', data: { code: 'E_GONE', id: '9007199254740993' } }]);
  assert.deepEqual(structured, [true, 'Error', 'disk full', { code: 'tool_error', data: { message: 'disk full', free: 0 } }]);
  assert.deepEqual(refused, [true, 'Error', 'not now', { code: 'rpc_error', rpcCode: -32001, data: { retryAfter: 5 } }]);
  assert.deepEqual(web, [true, 'Error', '409 Conflict: taken', { code: 'http', status: 409, body: { message: 'taken', holder: '9007199254740993' } }]);
  assert.deepEqual(local, [true, 'Error', "fails: 'sh' ended with status 3: no such file: x", { code: 'exit', exitCode: 3, stderr: 'no such file: x\n' }]);
  assert.equal(unknown[3].code, 'unknown_method');
});

test('an image in a result is an image for the model, and named where it was', async (t) => {
  const h = privateHome(t);
  const config = h.config({ mcpServers: { mcp: { command: process.execPath, args: ['-e', SERVER] } }, codemode: { limits: { resultBytes: 300 } } });
  const { client } = await mcpClient(t, { args: ['--config', config], env: h.env, cwd: h.cwd });
  const call = (code) => client.callTool({ name: 'codemode', arguments: { code } });
  const png = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };

  const one = await call('const [block] = await mcp.image({}); return { size: block.data.length, block };');
  assert.deepEqual(one.content.slice(1), [png]);
  assert.deepEqual(one.structuredContent.result, { size: 8, block: { type: 'image', mimeType: 'image/png', data: { $content: 1 } } });
  assert.deepEqual(one.structuredContent.calls[0].result[0].data, { $content: 1 });
  assert.deepEqual(JSON.parse(one.content[0].text), one.structuredContent);

  const bytes = (...list) => `new Uint8Array([${list}])`;
  const jpeg = bytes(0xff, 0xd8, 0xff, 0xe0), gif = bytes(...Buffer.from('GIF89a')), webp = bytes(...Buffer.from('RIFF\x04\0\0\0WEBPVP8 '));
  const many = await call(`return [${jpeg}, ${gif}, ${webp}, ${jpeg}, new Int8Array(${jpeg}), ${bytes(1, 2, 3)}, { $content: 1, $bytes: 'iVBORw0KGgo=' }];`);
  assert.deepEqual(many.content.slice(1).map((block) => block.mimeType), ['image/jpeg', 'image/gif', 'image/webp']);
  assert.deepEqual(many.structuredContent.result, [{ $content: 1 }, { $content: 2 }, { $content: 3 }, { $content: 1 },
    { $bytes: '/9j/4A==', $type: 'int8' }, { $bytes: 'AQID' }, { $$content: 1, $$bytes: 'iVBORw0KGgo=' }]);

  const cut = await call(`const b = new Uint8Array(500); b.set([0xff, 0xd8, 0xff]); return b;`);
  assert.equal(cut.content.length, 1);
  assert.equal(cut.structuredContent.truncated.code, 'result_limit');
  assert.equal((await call('return 1')).content.length, 1);
});

test('integers beyond 2^53 reach services and servers with every digit, wherever they stand', async (t) => {
  const h = privateHome(t);
  const http = await httpServer(t, () => ({ headers: { 'content-type': 'application/json' }, body: '{"id":9007199254740993,"list":[{"n":-18446744073709551617}]}' }));
  const integer = { type: 'integer', format: 'int64' };
  const spec = { openapi: '3.0.0', info: { title: 't', version: '1' }, servers: [{ url: http.url }],
    paths: { '/x/{id}': { post: { operationId: 'post_x', responses: { 200: { description: 'ok' } },
      parameters: [{ name: 'id', in: 'path', required: true, schema: integer }, { name: 'q', in: 'query', schema: { type: 'array', items: integer } }],
      requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { big: integer } } } } } } } } };
  h.config({ ...spec }, 'spec.json');
  // A server that answers with the line it got, as it was written.
  const server = `require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === 'initialize' ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : method === 'tools/list' ? { tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { id: { type: 'integer' } } } }] } : null;
    console.log('{"jsonrpc":"2.0","id":' + id + ',"result":' + (result ? JSON.stringify(result)
      : '{"content":[],"structuredContent":' + /"arguments":(.*?)[,}]*$/.exec(line)[1] + '}}') + '}');
  });`;
  const config = h.config({ mcpServers: { mcp: { command: process.execPath, args: ['-e', server] } }, codemode: { openapi: { web: { spec: 'spec.json' } } } });
  const { json } = await run(['run', '-', '--json', '--config', config], { ...h, stdin: `
    const big = 2n ** 64n + 1n;
    const a = await web.post_x({ id: 9007199254740993n, q: [big, 1n], body: { big, plain: 2 ** 53 } });
    const b = await mcp.echo({ id: big });
    return [typeof a.id, typeof a.list[0].n, a, b];` });
  assert.equal(json.status, 'completed', JSON.stringify(json.error));
  assert.deepEqual(json.result, ['bigint', 'bigint', { id: '9007199254740993', list: [{ n: '-18446744073709551617' }] }, { id: '18446744073709551617' }]);
  const [request] = http.requests;
  assert.equal(request.url, '/x/9007199254740993?q=18446744073709551617&q=1');
  assert.equal(request.text, '{"big":18446744073709551617,"plain":9007199254740992}');
});

test('a person sees what an error has besides, and what is cut, beside the result', async (t) => {
  const h = home(t);
  const failed = await run(['run', '-e', 'throw Object.assign(new Error("no", { cause: new TypeError("inner") }), { status: 413 })', '--config', h.config], h);
  assert.match(failed.stderr, /^codemode: Error: no\n[^]*\n {2}with \{"status":413,"cause":\{"name":"TypeError","message":"inner"\}\}\n$/);
  const limits = JSON.stringify({ resultBytes: 20, logBytes: 10 });
  const cut = await run(['run', '-e', 'console.log("x".repeat(11)); return [1111, 2222, 3333, 4444, 5555]', '--limits', limits, '--config', h.config], h);
  assert.equal(cut.stdout, '[1111,2222,3333]\n');
  assert.match(cut.stderr, /^x{10}\n\[warn\] \[further console output was dropped: the limit is 10 bytes \(limits\.logBytes\)\]\n/);
  assert.match(cut.stderr, /\ncodemode: The result has 26 bytes and is cut \(limits\.resultBytes is 20\): of result the first 3 of 5 elements are shown\./);
  assert.match(cut.stderr, /\ncodemode: The console output has 11 bytes; its first 10 are kept/);
  const whole = await run(['executions', /codemode executions (exec_\S+)/.exec(cut.stderr)[1], '--json', '--config', h.config], h);
  assert.deepEqual(whole.json.result, [1111, 2222, 3333, 4444, 5555]);
  assert.deepEqual(Object.keys(whole.json.truncated), ['logs']);
});
