// OpenAPI services through the real program: a description in YAML, a real HTTP server, programs that call it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT, caseFile, httpServer, privateHome, run } from './lib.mjs';

const PETSTORE = caseFile('openapi', 'petstore.yaml');
const STYLES = caseFile('openapi', 'styles.json');

/** A home whose configuration has one service `pets`. */
function service(t, openapi, more = {}) {
  const home = privateHome(t);
  const path = home.config({ codemode: { openapi: { pets: openapi }, ...more } });
  const program = (code, args = [], env = {}) =>
    run(['run', '--json', '--config', path, ...args, '-e', code], { env: { ...home.env, ...env }, cwd: home.cwd });
  return { ...home, path, program };
}

test('a program lists, creates and deletes', async (t) => {
  const pets = [{ id: 1, name: 'Rex' }];
  const server = await httpServer(t, (rq) => {
    if (rq.method === 'GET') return { body: pets.slice(0, Number(rq.query.get('limit') ?? 9)) };
    if (rq.method === 'POST') return { status: 201, body: pets[pets.push({ id: 2, ...rq.json }) - 1] };
    return { status: 204 };
  });
  const { program } = service(t, { spec: PETSTORE, baseUrl: `${server.url}/v1/`, headers: { 'X-Key': '${PET_KEY}' } });
  const out = await program(
    `const made = await pets.createPet({ body: { name: 'Ada' } });
     const gone = await pets.pets_delete({ petId: 'a/b' });
     return [made, gone === undefined, await pets.listPets({ limit: 1, tags: ['x y', 'z'], tenant: 'acme' })];`,
    [], { PET_KEY: 'hunter2-hunter2' });
  assert.deepEqual(out.json.result, [{ id: 2, name: 'Ada' }, true, [{ id: 1, name: 'Rex' }]]);
  assert.equal(out.status, 0);
  const [post, del, list] = server.requests;
  assert.deepEqual([post.method, post.url, post.json], ['POST', '/v1/pets', { name: 'Ada' }]);
  assert.equal(post.headers['content-type'], 'application/json');
  assert.deepEqual([del.method, del.url], ['DELETE', '/v1/pets/a%2Fb']);
  assert.equal(list.url, '/v1/pets?limit=1&tags=x%20y&tags=z');
  for (const rq of server.requests) {
    assert.equal(rq.headers['x-key'], 'hunter2-hunter2');
    assert.match(rq.headers['user-agent'], /^codemode\//);
  }
  assert.equal(list.headers.tenant, 'acme');
});

test('what a service refuses, a program can catch with its own words', async (t) => {
  const server = await httpServer(t, () => ({ status: 404, headers: { 'retry-after': '3' }, body: { message: 'no such pet' } }));
  const { program } = service(t, { spec: PETSTORE, baseUrl: server.url });
  const out = await program(
    `try { await pets.get_pets_petId({ petId: '7' }); }
     catch (e) { return [e instanceof Error, e.message, e.status, e.body, e.headers['retry-after']]; }`);
  assert.deepEqual(out.json.result, [true, '404 Not Found: no such pet', 404, { message: 'no such pet' }, '3']);
});

test('no argument reaches another route, and an unknown one is named before anything is sent', async (t) => {
  const server = await httpServer(t, () => 'reached');
  const { program } = service(t, { spec: PETSTORE, baseUrl: server.url });
  const out = await program(
    `const said = [];
     for (const args of [{ petId: '../admin' }, { petId: '..' }, { petId: '' }, {}, { petid: '1' }, 'text'])
       said.push(await pets.get_pets_petId(args).then((v) => v, (e) => 'failed: ' + e.message));
     return said;`);
  for (const text of out.json.result) assert.match(text, /^failed: /);
  assert.match(out.json.result[4], /petid/);
  assert.match(out.json.result[4], /petId/);
  assert.equal(server.requests.length, 0);
});

test('a secret that a service echoes tells the program nothing', async (t) => {
  const server = await httpServer(t, (rq) => ({ body: { seen: rq.headers['x-key'], b64: Buffer.from(rq.headers['x-key']).toString('base64') } }));
  const { program } = service(t, { spec: PETSTORE, baseUrl: server.url, headers: { 'X-Key': '${PET_KEY}' } });
  const out = await program('return await pets.listPets()', [], { PET_KEY: 'hunter2-hunter2' });
  assert.equal(server.requests[0].headers['x-key'], 'hunter2-hunter2');
  assert.doesNotMatch(out.stdout + out.stderr, /hunter2|aHVudGVyMi1odW50/);
});

test('where libcurl cannot be loaded, that is said of the call that needs it, and the rest runs', async (t) => {
  const { home, program } = service(t, { spec: PETSTORE, baseUrl: 'http://127.0.0.1:9' });
  writeFileSync(join(home, 'libcurl.so.4'), '');
  const without = { LD_LIBRARY_PATH: home };
  assert.equal((await program('return 1', [], without)).json.result, 1);
  const out = await program('return await pets.listPets().catch(e => e.message)', [], without);
  assert.match(out.json.result, /HTTP needs libcurl, which cannot be loaded: .*libcurl\.so\.4.*Install it/);
});

test('bytes go and come unharmed, and integers stay exact', async (t) => {
  const server = await httpServer(t, (rq) =>
    rq.path === '/bytes' ? { headers: { 'content-type': 'application/octet-stream' }, body: rq.body } :
      { headers: { 'content-type': 'application/json' }, body: '{"n": 12345678901234567890}' });
  const { program } = service(t, { spec: STYLES, baseUrl: server.url });
  const out = await program(
    `const back = await pets.bytes({ body: new Uint8Array([0, 255, 128, 10]) });
     const { n } = await pets.query();
     return [back instanceof Uint8Array, [...back], typeof n, String(n)];`);
  assert.deepEqual(out.json.result, [true, [0, 255, 128, 10], 'bigint', '12345678901234567890']);
  assert.deepEqual([...server.requests[0].body], [0, 255, 128, 10]);
});

test('credentials go where the scheme says, and a program cannot set them', async (t) => {
  const server = await httpServer(t, () => ({ body: {} }));
  const auth = { user: 'me:secret-secret', key: 'key-key-key', querykey: 'q&1-q&1-q&1' };
  const { program } = service(t, { spec: caseFile('openapi', 'auth.yaml'), baseUrl: server.url, auth });
  const out = await program(
    `await pets.main(); await pets.query({ a: 1 }); await pets.open();
     return await pets.main({ 'X-Key': 'mine' }).catch((e) => e.message);`);
  assert.equal(out.status, 0, out.stdout + out.stderr);
  assert.match(out.json.result, /X-Key/);
  const [main, query, open] = server.requests;
  assert.equal(main.headers.authorization, `Basic ${Buffer.from(auth.user).toString('base64')}`);
  assert.equal(main.headers['x-key'], 'key-key-key');
  assert.equal(query.query.get('api_key'), 'q&1-q&1-q&1');
  assert.equal(query.headers.authorization, undefined);
  assert.equal(open.headers.authorization, undefined);
  assert.equal(server.requests.length, 3);
});

test('a redirect is not followed with the credentials in hand', async (t) => {
  const other = await httpServer(t, () => 'stolen');
  const server = await httpServer(t, () => ({ status: 302, headers: { location: `${other.url}/x` } }));
  const { program } = service(t, { spec: PETSTORE, baseUrl: server.url, headers: { 'X-Key': 'hunter2-hunter2' } });
  const out = await program('return await pets.listPets()');
  assert.equal(out.status, 1);
  assert.match(out.json.error.message, /302 Found/);
  assert.equal(other.requests.length, 0);
});

test('a program that ends without waiting aborts the transfer', async (t) => {
  let closed;
  const aborted = new Promise((done) => (closed = done));
  const server = await httpServer(t, (rq, res) => {
    res.on('close', closed);
  });
  const { program } = service(t, { spec: PETSTORE, baseUrl: server.url });
  const out = await program(
    `const never = pets.listPets().catch(() => {});
     return 'done';`);
  assert.equal(out.json.result, 'done');
  if (server.requests.length) await aborted;
});

test('what cannot be called is named, and the rest works', async (t) => {
  const server = await httpServer(t, () => 'ok');
  const folder = privateHome(t);
  const path = folder.config({ codemode: { openapi: { pets: { spec: caseFile('openapi', 'broken.yaml') }, gone: { spec: 'nowhere.yaml' } } } });
  const spec = readFileSync(caseFile('openapi', 'broken.yaml'), 'utf8');
  writeFileSync(join(folder.cwd, 'local.yaml'), spec.replace('http://h/', server.url));
  const check = await run(['check', '--json', '--config', path], { env: folder.env, cwd: folder.cwd });
  assert.equal(check.status, 1);
  assert.match(check.stdout, /POST \/upload is left out/);
  assert.match(check.stdout, /nowhere\.yaml/);
  folder.config({ codemode: { openapi: { pets: { spec: 'local.yaml' }, gone: { spec: 'nowhere.yaml' } } } });
  const out = await run(['run', '--config', path, '-e', 'return await pets.good()'], { env: folder.env, cwd: folder.cwd });
  assert.equal(out.stdout.trim(), 'ok', out.stderr);
});

test('types of a description, without a service', async (t) => {
  const { env, cwd } = privateHome(t);
  const out = await run(['types', '--openapi', PETSTORE, '--json'], { env, cwd });
  assert.equal(out.status, 0, out.stderr);
  assert.deepEqual(out.json.operations[0], { name: 'listPets', method: 'GET', path: '/pets' });
  assert.deepEqual(out.json.skipped, []);
  assert.match(out.json.types, /listPets\(input\?: \{/);
  const swagger = await run(['types', '--openapi', caseFile('openapi', 'swagger2.json')], { env, cwd });
  assert.notEqual(swagger.status, 0);
  assert.match(swagger.stderr, /Swagger 2\.0/);
});

const GITHUB = join(ROOT, 'node_modules/@octokit/openapi/generated/api.github.com.json');
test('a description of many megabytes', { skip: !existsSync(GITHUB) && 'the npm package @octokit/openapi is missing' }, async (t) => {
  const server = await httpServer(t, (rq) => ({ status: 201, body: { number: 1, url: rq.url, title: rq.json.title } }));
  const { program } = service(t, { spec: GITHUB, baseUrl: server.url });
  const out = await program(`return await pets.issues_create({ owner: 'o', repo: 'r', body: { title: 'T' } })`);
  assert.deepEqual(out.json.result, { number: 1, url: '/repos/o/r/issues', title: 'T' });
  const typo = await program(`return await pets.issues_creat({})`);
  assert.match(typo.json.error.message, /issues_create/);
});
