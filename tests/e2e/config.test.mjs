// The configuration file from the outside: what is wrong is named by file, key and reason, and one broken entry breaks
// nothing else. The rules one by one are cases of tests/unit/test_config.c.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { npmServer, privateHome, run } from './lib.mjs';

const server = (...argv) => ({ command: argv[0], args: argv.slice(1) });
const EVERYTHING = server(...npmServer('@modelcontextprotocol/server-everything'));
const LOCAL = { toolsets: { local: { tools: { word_count: { command: ['wc', '-w'], description: 'Count words.' } } } } };

test('a bad configuration ends with status 2 and names file, key and reason', async (t) => {
  const h = privateHome(t);
  const cases = [
    [{ codemode: { limits: { cpuMs: 'fast' } } }, /codemode\.limits\.cpuMs: is a string; expected a whole number from 10/],
    [{ codemode: { limits: { memoryMb: 1 } } }, /codemode\.limits\.memoryMb: is 1; expected a whole number from 16/],
    [{ codemode: { policy: [{ match: 'a.*', action: 'ask' }] } }, /codemode\.policy\[0\]\.action: is 'ask'; expected "allow"/],
    [{ mcpServers: [] }, /mcpServers: is an array; expected an object/],
    ['{ "mcpServers": { "a": } }', /line 1, column \d+/],
  ];
  for (const [config, pattern] of cases) {
    const path = h.config(config, 'bad.json');
    const { status, stdout, stderr } = await run(['run', '-e', 'return 1', '--config', path], h);
    assert.equal(status, 2, stderr);
    assert.equal(stdout, '');
    assert.ok(stderr.includes('bad.json'), stderr);
    assert.match(stderr, pattern);
  }
  const missing = await run(['run', '-e', 'return 1', '--config', 'nowhere.json'], h);
  assert.equal(missing.status, 2);
  assert.match(missing.stderr, /nowhere\.json/);
});

test('the name codemode is refused, and two of one identifier with both origins', async (t) => {
  const h = privateHome(t);
  const reserved = await run(['check', '--config', h.config({ mcpServers: { codemode: EVERYTHING } })], h);
  assert.equal(reserved.status, 2);
  assert.match(reserved.stderr, /mcpServers\.codemode.*reserved/);
  const two = h.config({ mcpServers: { 'my-tools': EVERYTHING }, codemode: { toolsets: { my_tools: LOCAL.toolsets.local } } });
  const collision = await run(['check', '--config', two], h);
  assert.equal(collision.status, 2);
  assert.match(collision.stderr, /mcpServers\.my-tools.*codemode\.toolsets\.my_tools.*'my_tools'/);
});

test('a name that is no identifier, or one that JavaScript needs, is mapped with a warning and works', async (t) => {
  const h = privateHome(t);
  const config = h.config({ mcpServers: { 'every-thing': EVERYTHING }, codemode: { toolsets: { Promise: LOCAL.toolsets.local } } });
  const { stdout, stderr, status } = await run(
    ['run', '--config', config, '-e', 'return await Promise.all([every_thing.get_sum({ a: 1, b: 2 }), Promise_.word_count({})])'], h);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /3/);
  assert.match(stderr, /mcpServers\.every-thing.*'every_thing'/);
  assert.match(stderr, /codemode\.toolsets\.Promise.*'Promise_'/);
});

test('check names every broken server and the others work', { timeout: 120_000 }, async (t) => {
  const h = privateHome(t);
  const config = h.config({
    mcpServers: {
      everything: EVERYTHING,
      absent: server('no-such-program-anywhere'),
      leaves: server('sh', '-c', 'echo "out of cheese" >&2; exit 3'),
      garbage: { ...server('sh', '-c', 'while read -r line; do echo "<html>"; done'), timeout: 2000 },
      hanging: { ...server('sleep', '1000'), timeout: 1000 },
      remote: { url: 'https://example.com/mcp' },
      unset: { ...server('true'), env: { KEY: '${NOT_SET_ANYWHERE}' } },
      misspelt: { comand: 'x' },
    },
    codemode: { ...LOCAL, openapi: { nofile: { spec: 'missing.yaml' } } },
  });
  const { status, json } = await run(['check', '--json', '--config', config], h);
  assert.equal(status, 1);
  assert.equal(json.ok, false);
  const states = Object.fromEntries(json.connectors.map((c) => [c.name, c]));
  for (const name of ['everything', 'local']) assert.equal(states[name].state, 'ready', JSON.stringify(states[name]));
  const errors = {
    absent: /no-such-program-anywhere/,
    leaves: /3.*out of cheese|out of cheese.*3/s,
    garbage: /<html>/,
    hanging: /1000 ms|1 s/,
    remote: /streamable HTTP servers .*not supported in this version/,
    unset: /mcpServers\.unset\.env\.KEY.*NOT_SET_ANYWHERE.*not set/,
    misspelt: /mcpServers\.misspelt.*'command'/,
    nofile: /missing\.yaml/,
  };
  for (const [name, pattern] of Object.entries(errors)) {
    assert.equal(states[name].state, 'failed', name);
    assert.match(states[name].error, pattern);
    assert.ok(states[name].error.includes(name) && states[name].origin.includes(name), states[name].error);
  }
  assert.ok(json.config.warnings.some((w) => /comand.*'command'/.test(w)));
  // For people it is the same, and a program that uses the others does not notice.
  const text = await run(['check', '--config', config], h);
  assert.equal(text.status, 1);
  for (const name of Object.keys(errors)) assert.match(text.stdout, new RegExp(`^FAILED +.*${name}`, 'm'));
  const { stdout } = await run(['run', '--config', config, '-e', 'return await local.word_count({ a: 1 })'], h);
  assert.equal(stdout, '1\n');
});

test('a configuration in the working directory starts nothing before it was trusted', async (t) => {
  const h = privateHome(t);
  const config = { mcpServers: { a: server('sh', '-c', 'touch started; exit 1') } };
  h.config(config, '.mcp.json');
  const refused = await run(['tools'], h);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /\.mcp\.json.*codemode check --trust/);
  assert.ok(!existsSync(join(h.cwd, 'started')));
  const trusting = await run(['check', '--trust'], h);
  assert.match(trusting.stderr, /\.mcp\.json.*trusted/);
  assert.ok(existsSync(join(h.cwd, 'started')));
  assert.equal((await run(['run', '-e', 'return 1'], h)).status, 0);
  // Another content is not trusted.
  writeFileSync(join(h.cwd, '.mcp.json'), `${readFileSync(join(h.cwd, '.mcp.json'), 'utf8')} `);
  assert.equal((await run(['run', '-e', 'return 1'], h)).status, 2);
});

test('children get a plain environment and what their entry says, from any terminal', async (t) => {
  const h = privateHome(t);
  const config = h.config({
    codemode: { toolsets: { local: { tools: { env: { command: ['env'], env: { MINE: '${FROM_HOST:-x}-${env:FROM_HOST}' } } } } } },
  });
  const env = { ...h.env, FROM_HOST: 'y', PRIVATE_THING: 'not for children' };
  const { stdout } = await run(['run', '--config', config, '-e', 'return await local.env({})'], { ...h, env });
  assert.match(stdout, /^MINE=y-y$/m);
  assert.match(stdout, /^PATH=/m);
  assert.doesNotMatch(stdout, /PRIVATE_THING|CODEMODE_WORKER/);
});

test('the description of GitHub loads within a second and a search finds what was meant', async (t) => {
  const h = privateHome(t);
  const { createRequire } = await import('node:module');
  const require = createRequire(import.meta.url);
  const spec = require.resolve('@octokit/openapi/generated/api.github.com.json');
  const config = h.config({ codemode: { openapi: { github: { spec, baseUrl: 'http://127.0.0.1:9' } } } });
  const begin = performance.now();
  const { json } = await run(['tools', 'search', 'create issue', '--json', '--config', config], h);
  const ms = performance.now() - begin;
  const first = json.results.slice(0, 3).map((r) => r.path);
  t.diagnostic(`${Math.round(ms)} ms for ${json.total} hits; first: ${first.join(', ')}`);
  assert.ok(first.some((path) => /^github\.issues_?_?create$|^github\.issues_create$/.test(path)), first.join(', '));
  assert.ok(ms < 1000, `${ms} ms`);
});

test('tools called as JavaScript asks for members, or as a reserved word, can be called and denied', async (t) => {
  const h = privateHome(t);
  const tool = { command: ['cat'] };
  const config = h.config({ codemode: {
    toolsets: { odd: { tools: { then: tool, toJSON: tool, ['__proto__']: tool, constructor: tool, delete: tool, '2fa': tool } } },
    policy: [{ match: 'odd.delete', action: 'deny' }, { match: 'odd.2fa', action: 'deny' }],
  } });
  const code = `const all = {};
    for (const name of ['then_', 'toJSON_', '__proto___', 'constructor_', 'delete_', '_2fa'])
      all[name] = await odd[name]({ x: 1 }).then(v => v.x, e => e.message);
    return [all, typeof await odd, JSON.stringify(odd)]`;
  const r = await run(['run', '--json', '--config', config, '-e', code], h);
  assert.equal(r.json.status, 'completed', r.stdout);
  const [all, type, text] = r.json.result;
  assert.deepEqual([all.then_, all.toJSON_, all.__proto___, all.constructor_], [1, 1, 1, 1]);
  assert.match(all.delete_, /denied by policy\[0\]/);
  assert.match(all._2fa, /denied by policy\[1\]/);
  assert.deepEqual([type, text], ['object', '{}']);
});
