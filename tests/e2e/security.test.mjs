// What must never happen: a secret in anything that a program, a model or a log can see; a worker that holds more than its
// socket; a worker program that links what an escaped script could use.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, watch } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, httpServer, npmServer, privateHome, run, SANITIZED, start, WORKER } from './lib.mjs';

const SECRETS = { header: 'hdr-5f3a9c77e1', bearer: 'tok-0b1c2d3e4f5a', env: 'env-77aa88bb99cc', flag: 'flg-1029384756' };

const SPEC = `openapi: 3.0.0
info: { title: Echo, version: "1" }
paths:
  /ok: { get: { operationId: ok, responses: { "200": { description: fine } } } }
  /fail: { get: { operationId: fail, responses: { "200": { description: fine } } } }
`;

async function echoing(t) {
  const h = privateHome(t);
  const server = await httpServer(t, ({ path, headers }) => ({ status: path.endsWith('/fail') ? 500 : 200, body: { message: `you sent ${JSON.stringify(headers)}`, headers } }));
  const spec = h.config(SPEC, 'echo.yaml');
  const [command, ...args] = npmServer('@modelcontextprotocol/server-everything');
  const config = h.config({
    mcpServers: {
      everything: { command, args, env: { SERVICE_TOKEN: '${SERVICE_TOKEN}' } },
      dies: { command: 'sh', args: ['-c', 'echo "cannot log in with $1" >&2; exit 1', 'sh', '--api-key=${FLAG_KEY}'] },
    },
    codemode: {
      openapi: { echo: { spec, baseUrl: server.url, headers: { 'X-Key': SECRETS.header, Authorization: 'Bearer ${BEARER}' } } },
      toolsets: { local: { tools: { env: { command: ['env'], env: { API_SECRET: '${SERVICE_TOKEN}' } } } } },
    },
  });
  const env = { ...h.env, SERVICE_TOKEN: SECRETS.env, BEARER: SECRETS.bearer, FLAG_KEY: SECRETS.flag };
  return { ...h, env, server, args: ['--config', config] };
}

/** Every spelling in which a secret would still be one. */
function assertNoSecrets(where, text) {
  for (const [kind, secret] of Object.entries(SECRETS)) {
    for (const spelling of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, 12)]) {
      assert.ok(!text.includes(spelling), `${where} holds the ${kind} secret: …${text.slice(Math.max(0, text.indexOf(spelling) - 60), text.indexOf(spelling) + 40)}…`);
    }
  }
}

test('a secret that a server echoes is in no result, error, log, record or file', async (t) => {
  const h = await echoing(t);
  const program = `
    const seen = [await echo.ok({}), await everything.get_env({}), await local.env({})];
    console.log(JSON.stringify(seen));
    for (const call of [() => echo.fail({}), () => dies.anything({})]) {
      try { await call() } catch (e) { console.error(e.message, e.stack, JSON.stringify(e)); seen.push(String(e.message)) }
    }
    return seen;`;
  const { status, stdout, stderr } = await run(['run', '--json', ...h.args, '-e', program], h);
  assert.equal(status, 0, stderr);
  // The secrets did arrive where they belong, and what came back is marked.
  assert.equal(h.server.requests[0].headers['x-key'], SECRETS.header);
  assert.equal(h.server.requests[0].headers.authorization, `Bearer ${SECRETS.bearer}`);
  assert.match(stdout, /\[secret /);
  assertNoSecrets('the outcome', stdout);
  assertNoSecrets('standard error', stderr);

  const thrown = await run(['run', ...h.args, '-e', 'await dies.anything({})'], h);
  assert.equal(thrown.status, 1);
  assertNoSecrets('the error', thrown.stderr);
  for (const args of [['check'], ['check', '--json'], ['tools', '--json'], ['types'], ['executions', '--json'], ['executions', JSON.parse(stdout).executionId]]) {
    const out = await run([...args, ...h.args], h);
    assertNoSecrets(args.join(' '), out.stdout + out.stderr);
  }
  for (const file of readdirSync(join(h.env.XDG_STATE_HOME, 'codemode'), { recursive: true, withFileTypes: true })) {
    if (file.isFile()) assertNoSecrets(file.name, readFileSync(join(file.parentPath ?? file.path, file.name), 'latin1'));
  }
});

test('a configuration that is wrong shows no secret in its error', async (t) => {
  const h = privateHome(t);
  const config = h.config({
    mcpServers: { a: { url: 'https://example.com', headers: { 'X-Key': `${SECRETS.header}\n` } } },
    codemode: { openapi: { b: { spec: 'none.yaml', auth: { basic: { username: 'u:v', password: SECRETS.bearer } } } } },
  });
  const { stdout, stderr } = await run(['check', '--config', config], h);
  assert.match(stdout, /headers\.X-Key/);
  assertNoSecrets('check', stdout + stderr);
});

test('the worker program links nothing that reaches a network, a file format or a loop', () => {
  const dynamic = execFileSync('readelf', ['-d', WORKER], { encoding: 'utf8' });
  const needed = [...dynamic.matchAll(/NEEDED.*\[(.+?)\]/g)].map((m) => m[1]);
  assert.ok(needed.some((name) => name.includes('javascriptcore')), needed.join(' '));
  for (const name of needed) assert.doesNotMatch(name, /curl|microhttpd|sqlite|libuv|fyaml|soup|ssl|crypto|pq/);
});

function childrenOf(pid) {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return Number(readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1]) === pid;
    } catch {
      return false; // ended meanwhile
    }
  }).map(Number);
}

const isWorker = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('codemode-worker');

for (const [what, command, words] of [
  ['a limit on the address space', ['sh', '-c', 'ulimit -v 300000; exec "$0" "$@"'], /address space is limited/],
  ['no /proc', ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$0" "$@"'], /no \/proc\/self\/maps/],
]) {
  const missing = spawnSync(command[0], [...command.slice(1), 'true']).status !== 0 && `no ${command[0]}`;
  test(`where the engine does not start for ${what}, the error says so`, { skip: SANITIZED ? 'nor does the sanitizer' : missing }, async (t) => {
    const { status, stderr } = await run([...command.slice(1), CODEMODE, 'run', '-e', '1'], { ...privateHome(t), program: command[0] });
    assert.equal(status, 1);
    assert.match(stderr, words);
  });
}

test('a worker holds nothing but its socket, also while a call is pending', { skip: process.getuid() !== 0 && 'only root may look into a process that is not dumpable' }, async (t) => {
  const h = privateHome(t);
  const config = h.config({
    codemode: { toolsets: { local: { tools: { wait: { command: ['sh', '-c', 'echo > begun; exec sleep 1000'], env: { A_TOKEN: SECRETS.env } } } } } },
  });
  const child = start(['run', '--config', config, '-e', 'return await local.wait({})'], { ...h, env: { ...h.env, HOST_TOKEN: SECRETS.bearer }, t });
  await new Promise((begun) => {
    const look = () => existsSync(join(h.cwd, 'begun')) && (watcher.close(), begun());
    const watcher = watch(h.cwd, look);
    look();
  });
  const zygote = childrenOf(child.pid).find(isWorker);
  const workers = childrenOf(zygote);
  assert.ok(workers.length >= 1);
  for (const pid of workers) {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    if (SANITIZED) open.splice(1).forEach((fd) => assert.match(fd, /^pipe:/)); // a report goes to the zygote's standard error
    assert.equal(open.length, 1, `worker ${pid}: ${open.join(' ')}`);
    assert.match(open[0], /^socket:/);
    assert.equal(readFileSync(`/proc/${pid}/environ`, 'latin1'), '');
    assert.equal(readdirSync(`/proc/${pid}/task`).length, 1);
  }
  assert.equal(readFileSync(`/proc/${zygote}/environ`, 'latin1').includes(SECRETS.bearer), false);
});

test('nothing that a program or a server says reaches the controls of a terminal', async (t) => {
  const h = privateHome(t);
  const said = String.raw`\x1b]0;title\x07 \x9b31m \u202e \u2066`;
  const hidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
  for (const code of [`return "${said}"`, `console.log("${said}")`, `throw new Error("${said}")`]) {
    // A terminal of its own for all three streams.
    const command = `${CODEMODE} run -e '${code}'`;
    const r = await run(['-qec', command, '/dev/null'], { ...h, program: 'script' });
    assert.match(r.stdout, /title/, r.stdout + r.stderr);
    assert.doesNotMatch(r.stdout, hidden, JSON.stringify(r.stdout));
  }
  const piped = await run(['run', '-e', `return "${said}"`], h);
  assert.match(piped.stdout, hidden, 'a pipe gets the result unharmed');
});
