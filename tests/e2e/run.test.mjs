// codemode run: results, outcomes, errors a model can act on, and programs that try to do what they may not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { httpServer, privateHome, run, SANITIZED, start, untilOutput } from './lib.mjs';
import { once } from 'node:events';

const evaluate = (h, code, ...args) => run(['run', '-e', code, ...args], h);

test('prints a number, a string as it is, an object as JSON, undefined as nothing', async (t) => {
  const h = privateHome(t);
  assert.equal((await evaluate(h, 'return 6 * 7')).stdout, '42\n');
  assert.equal((await evaluate(h, 'return "a\\"b"')).stdout, 'a"b\n');
  assert.equal((await evaluate(h, 'return { a: [1, null] }')).stdout, '{"a":[1,null]}\n');
  const nothing = await evaluate(h, 'const x = 1;');
  assert.deepEqual([nothing.stdout, nothing.stderr, nothing.status], ['', '', 0]);
});

test('a result that was cut inside a character is still a result', async (t) => {
  const h = privateHome(t);
  const r = await run(['run', '--json', '-e', 'return { text: "ab😀".slice(0, 3), n: 10n }'], h);
  assert.deepEqual(r.json.result, { text: 'ab\ufffd', n: '10' });
  assert.match(r.json.warnings.join(), /lone surrogate/);
});

test('reads the program from a file, from standard input, and as a function with input', async (t) => {
  const h = privateHome(t);
  writeFileSync(join(h.cwd, 'p.js'), 'async (input) => input.n + 1\n');
  assert.equal((await run(['run', 'p.js', '--input', '{"n": 41}'], h)).stdout, '42\n');
  assert.equal((await run(['run', '-'], { ...h, stdin: 'return "in"' })).stdout, 'in\n');
  assert.equal((await run(['run'], { ...h, stdin: 'return "in"' })).stdout, 'in\n');
});

test('--json prints the whole outcome', async (t) => {
  const { json, status, stderr } = await evaluate(privateHome(t), 'console.log("hi"); console.warn("careful"); return { n: 1 }', '--json');
  assert.equal(status, 0);
  assert.equal(stderr, '');
  assert.equal(json.status, 'completed');
  assert.match(json.executionId, /^exec_\d{16}_[0-9a-f-]{36}$/);
  assert.deepEqual(json.result, { n: 1 });
  assert.deepEqual(json.logs, ['hi', '[warn] careful']);
});

test('console output goes to standard error, in order, and never to standard output', async (t) => {
  const { stdout, stderr } = await evaluate(privateHome(t), 'console.log("one"); console.error("two"); return 3');
  assert.equal(stdout, '3\n');
  assert.equal(stderr, 'one\n[error] two\n');
});

test('a program that throws ends with status 1, its message and its own line', async (t) => {
  const { status, stdout, stderr } = await evaluate(privateHome(t), 'const o = {};\n\n  o.missing();\n');
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^codemode: TypeError: .*missing/);
  assert.ok(stderr.endsWith('\n  3 | o.missing();\n    |   ^\n'), stderr);
});

test('a syntax error names its place and is no crash', async (t) => {
  const { status, stderr, stdout } = await evaluate(privateHome(t), 'return 1 +;');
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /SyntaxError/);
  assert.ok(stderr.endsWith('\n  1 | return 1 +;\n    |           ^\n'), stderr);
});

test('terminal control sequences of a program do not reach the terminal', async (t) => {
  const { stderr } = await evaluate(privateHome(t), 'console.log("\\u001b[31mred\\u009b"); throw new Error("\\u001b]0;title\\u0007")');
  assert.doesNotMatch(stderr, /[\u001b\u009b\u0007]/);
  assert.match(stderr, /\\x1b\[31mred/);
});

test('a NUL in a message or a console line loses nothing behind it', async (t) => {
  const { status, stderr } = await evaluate(privateHome(t), 'console.log("a\\0b"); throw new Error("c\\0d")');
  assert.equal(status, 1);
  assert.match(stderr, /^a\\x1ab$/m);
  assert.match(stderr, /Error: c\\x1ad/);
});

test('a limit that is no limit of a run is refused by name before anything runs', async (t) => {
  const h = privateHome(t);
  for (const [limits, name] of [['{"cpuMS": 1}', /cpuMS.*cpuMs/], ['{"cpuMs": 999999}', /cpuMs.*lower/], ['{"cpuMs": "1"}', /cpuMs.*string/], ['[', /limits/]]) {
    const { status, stderr, stdout } = await evaluate(h, 'return 1', '--limits', limits);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, name);
  }
  assert.equal((await evaluate(h, 'return 1', '--input', '{')).status, 2);
});

test('a program that is too large is refused and says how large it may be', async (t) => {
  const { status, stderr, json } = await run(['run', '-', '--json'], { ...privateHome(t), stdin: `return 1;${' '.repeat(1_000_001)}` });
  assert.equal(status, 1);
  assert.match(stderr, /1000000/);
  assert.equal(json.status, 'error');
  assert.equal(json.executionId, '');
});

// Each must end that run alone, with status 1, at once and with an error that a model can act on.
const HOSTILE = [
  ['while (true) {}', { cpuMs: 200 }, /CPU/i],
  ['const a = []; while (true) a.push(new Array(100000).fill(a.length))', { memoryMb: 32 }, /memory/i],
  ['for (;;) await null', { cpuMs: 200 }, /CPU/i],
  ['await new Promise(() => {})', {}, /never|nothing|settle|wait/i],
  ['await new Promise((r) => setTimeout(r, 60000))', { deadlineMs: 300 }, /deadline/i],
  ['process.exit()', {}, /process.*(not defined|no |globals)/i],
  ['require("fs")', {}, /require.*(not defined|no |globals)/i],
  ['return await import("fs")', {}, /import|module/i],
  ['return await fetch("http://127.0.0.1")', {}, /no network.*connector/i],
  ['return new Function("return globalThis")().process.pid', {}, /process|undefined/i],
  ['function f() { f() } f()', {}, /stack|recurs/i],
];
for (const [code, limits, message] of HOSTILE) {
  test(`ends that run alone, with an error that says why: ${code}`, { skip: SANITIZED && limits.memoryMb && 'the memory limit excludes the sanitizer' }, async (t) => {
    const h = privateHome(t);
    const { status, json, stderr } = await evaluate(h, code, '--json', '--limits', JSON.stringify(limits));
    assert.equal(status, 1, stderr);
    assert.equal(json.status, 'error');
    assert.match(json.error.message, message);
    assert.ok(json.error.message.length < 2000);
    assert.equal((await evaluate(h, 'return 1')).stdout, '1\n');
  });
}

test('fetch reaches nothing, not even a server that listens', async (t) => {
  const server = await httpServer(t, () => 'secret');
  const { status } = await evaluate(privateHome(t), `return (await fetch("${server.url}")).text()`);
  assert.equal(status, 1);
  assert.equal(server.requests.length, 0);
});

test('Ctrl-C cancels the run, says so and ends with 130', async (t) => {
  const h = privateHome(t);
  const config = h.config({ codemode: { toolsets: { local: { tools: { wait: { command: ['sh', '-c', 'echo begun > "$0"; exec sleep 1000', 'begun'] } } } } } });
  const child = start(['run', '--config', config, '--json', '-e', 'return await local.wait({})'], { ...h, t });
  const { watch, existsSync } = await import('node:fs');
  await new Promise((begun) => {
    const look = () => existsSync(join(h.cwd, 'begun')) && (watcher.close(), begun());
    const watcher = watch(h.cwd, look);
    look();
  });
  child.kill('SIGINT');
  const output = untilOutput(child.stdout, /"status":"cancelled"/);
  const [status] = await once(child, 'exit');
  await output;
  assert.equal(status, 130);
});

test('an approval that nobody gives pauses the run with status 3 and says what waits', async (t) => {
  const h = privateHome(t);
  const config = h.config({
    codemode: { toolsets: { local: { tools: { drop: { command: ['cat'], requiresApproval: true } } } } },
  });
  const { status, json, stderr } = await run(['run', '--config', config, '--json', '-e', 'return await local.drop({ what: "all" })'], h);
  assert.equal(status, 3, stderr);
  assert.equal(json.status, 'paused');
  assert.deepEqual(json.pending[0].args, { what: 'all' });
  assert.match(json.pending[0].argsHash, /^sha256:[0-9a-f]{64}$/);
});

test('a policy that denies is an error that the program can catch', async (t) => {
  const h = privateHome(t);
  const config = h.config({
    codemode: { toolsets: { local: { tools: { drop: { command: ['cat'] } } } }, policy: [{ match: 'local.drop', action: 'deny' }] },
  });
  const { stdout } = await run(['run', '--config', config, '-e', 'try { await local.drop({}) } catch (e) { return e.code }'], h);
  assert.equal(stdout, 'denied\n');
});
