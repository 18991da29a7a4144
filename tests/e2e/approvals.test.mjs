// What a human decides, from the command line: with the process that paused the program gone, and with it still there.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, watch } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, environment, mcpClient, privateHome, run, start } from './lib.mjs';

// Each effect leaves a line: the process that started the tool, and what the tool was given.
const effect = { command: ['sh', '-c', 'echo "$PPID $(cat)" >> effects; echo \'{"done":true}\''] };
const TOOLS = {
  drop: { ...effect, requiresApproval: true, inputSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } },
  note: effect,
  read: { command: ['cat'], readOnly: true },
  slow: { command: ['sh', '-c', 'echo begun > begun; read line; exec sleep 60'] },
};

function world(t, more = {}) {
  const h = privateHome(t);
  const config = h.config({ codemode: { toolsets: { local: { tools: TOOLS } }, ...more } });
  const effects = () => (existsSync(join(h.cwd, 'effects')) ? readFileSync(join(h.cwd, 'effects'), 'utf8').trimEnd().split('\n') : []);
  const command = (...args) => run([...args, '--config', config], h);
  /** Run a program that pauses; its execution's id. */
  const paused = async (code) => {
    const r = await command('run', '--json', '-e', code);
    assert.equal(r.status, 3, r.stdout + r.stderr);
    return r.json.executionId;
  };
  return { h, config, effects, command, paused, args: (line) => line.slice(line.indexOf(' ') + 1) };
}

const WIDE = (text) => text.split('\n').filter((line) => [...line].length > 80);

test('a run that pauses says what waits and the very command that approves it', async (t) => {
  const w = world(t);
  const first = await w.command('run', '-e', 'const r = await local.drop({ what: "it\'s all" }); return r.done');
  assert.equal(first.status, 3);
  assert.equal(first.stdout, '');
  assert.match(first.stderr, /paused: 1 call waits for a human's approval, and has not run\n {2}call 0: local\.drop \{"what":"it's all"\}\n/);
  assert.deepEqual(w.effects(), []);
  const line = /^to run it: +(codemode approve .*)$/m.exec(first.stderr)[1];
  const PATH = `${join(CODEMODE, '..')}:${process.env.PATH}`;
  const second = await run(['-c', line], { program: 'sh', cwd: '/', env: { ...w.h.env, PATH } });
  assert.deepEqual({ status: second.status, stdout: second.stdout }, { status: 0, stdout: 'true\n' }, second.stderr);
  assert.deepEqual(w.effects().map(w.args), ['{"what":"it\'s all"}']);
});

test('what was approved once is not approved again, and nothing runs twice', async (t) => {
  const w = world(t);
  const id = await w.paused('return await local.drop({ what: "a" })');
  const both = await Promise.all([w.command('approve', id), w.command('approve', id), w.command('approve', id)]);
  // One decides. Who finds nothing left to decide waits for the same end, or is told what happened.
  assert.ok(both.some((r) => r.status === 0 && r.stdout === '{"done":true}\n'), JSON.stringify(both));
  for (const r of both) if (r.status) assert.match(r.stderr, new RegExp(id), JSON.stringify(both));
  assert.equal(w.effects().length, 1);
  const again = await w.command('approve', id);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /completed/);
  assert.equal(w.effects().length, 1);
});

test('pending is a table of at most 80 columns, and one execution is shown whole', async (t) => {
  const w = world(t);
  const long = 'x'.repeat(300);
  const one = await w.paused(`return await Promise.all([local.drop({ what: '${long}' }), local.drop({ what: 'b' })])`);
  const two = await w.paused('return await local.drop({ what: "c" })');
  const table = await w.command('pending');
  assert.equal(table.status, 0);
  assert.deepEqual(WIDE(table.stdout), []);
  assert.match(table.stdout, new RegExp(`^${two} .*\n +#  CALL +ARGUMENTS\n +0  local.drop  \\{"what":"c"\\}\n${one} .*\n`));
  assert.match(table.stdout, / {2}1 {2}local\.drop {2}\{"what":"b"\}\n$/);
  const whole = await w.command('pending', one);
  assert.match(whole.stdout, /^call 0 {2}local\.drop\n {2}rule {2}.*requiresApproval.*\n {2}hash {2}sha256:[0-9a-f]{64}\n {2}\{\n/);
  assert.ok(whole.stdout.includes(`    "what": "${long}"\n`), 'the arguments are not cut');
  const { pending } = (await w.command('pending', '--json')).json;
  assert.deepEqual(pending.map((p) => [p.executionId, p.seq]), [[two, 0], [one, 0], [one, 1]]);
  const none = await w.command('pending', 'exec_1');
  assert.equal(none.status, 1);
  assert.match(none.stderr, /exec_1/);
});

test('what cannot be seen in an argument is shown as an escape', async (t) => {
  const w = world(t);
  const id = await w.paused(String.raw`return await local.drop({ what: 'a\u202Eb\u200Bc\u00A0d\u{E0041}e\u001b[2Jf\u009bg' })`);
  const { stdout } = await w.command('pending', id);
  assert.ok(stdout.includes(String.raw`"what": "a\u202eb\u200bc\u00a0d\udb40\udc41e\u001B[2Jf\u009bg"`), stdout);
  const { stderr } = await w.command('run', '-e', String.raw`return await local.drop({ what: '\u001b[2J\u009b\u202E' })`);
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('some of several calls are approved, and the program waits for the others', async (t) => {
  const w = world(t);
  const id = await w.paused('const r = await Promise.all(["a", "b", "c"].map((what) => local.drop({ what }).then(() => what))); return r.join("")');
  const some = await w.command('approve', id, '2', '0');
  assert.equal(some.status, 3, some.stderr);
  assert.deepEqual(w.effects().map(w.args).sort(), ['{"what":"a"}', '{"what":"c"}']);
  assert.match(some.stderr, /call 1: local\.drop/);
  const wrong = await w.command('approve', id, '2');
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /call 2 of exec_\S+ is not pending; pending: 1\n/);
  const rest = await w.command('approve', id);
  assert.deepEqual([rest.status, rest.stdout], [0, 'abc\n'], rest.stderr);
  assert.equal(w.effects().length, 3);
});

test('other arguments and a hash that must fit', async (t) => {
  const w = world(t);
  const id = await w.paused('return await local.drop({ what: "a" })');
  const hash = (await w.command('pending', id, '--json')).json.pending[0].argsHash;
  for (const [args, pattern] of [
    [['--hash', hash.replace(/.$/, (c) => (c === '0' ? '1' : '0'))], /hash/],
    [['--args', '{"what":7}'], /what/],
    [['--args', '{"what"'], /--args: line 1/],
    [['--args', '[1]'], /--args is an array; expected a JSON object/],
    [['--args', '{"what":"b","what":"c"}'], /local\.drop: "\/what" is given twice/],
    [['--reason', 'x'.repeat(5000)], /the reason has 5000 bytes; at most 4096/],
  ]) {
    const r = await w.command('approve', id, '0', ...args);
    assert.notEqual(r.status, 0);
    assert.match(r.stderr, pattern);
    assert.deepEqual(w.effects(), []);
  }
  const r = await w.command('approve', id, '0', '--hash', hash, '--args', '{"what":"b"}', '--reason', 'b is meant');
  assert.equal(r.status, 0, r.stderr);
  assert.deepEqual(w.effects().map(w.args), ['{"what":"b"}']);
  const [call] = (await w.command('executions', id, '--json')).json.calls;
  assert.deepEqual([call.args, call.asked, call.reason, call.state], [{ what: 'b' }, { what: 'a' }, 'b is meant', 'applied']);
  assert.match((await w.command('approve', id, '0')).stderr, /call 0 of exec_.* is not pending; nothing is: the execution is completed/);
  assert.ok(call.decidedBy && call.decidedAt >= call.startedAt - 60_000, JSON.stringify(call));
  const { stdout } = await w.command('executions', id);
  assert.deepEqual(WIDE(stdout), []);
  assert.match(stdout, /^decisions\n {2}call 0 approved by \S+, .*: b is meant\n {4}in place of \{"what":"a"\}\n$/m);
});

test('a rejected call is an error that the program sees; a rejected execution runs no more', async (t) => {
  const w = world(t);
  const program = 'try { await local.drop({ what: "a" }) } catch (e) { await local.note({}); return e.code + ": " + e.message }';
  const seen = await w.paused(program);
  const r = await w.command('reject', seen, '0', '--reason', 'not on a Friday');
  assert.equal(r.status, 0, r.stderr);
  assert.match(r.stdout, /^rejected: .*not on a Friday/);
  assert.equal(w.effects().length, 1);
  const ended = await w.paused(program);
  const e = await w.command('reject', ended, '--reason', 'no', '--json');
  assert.deepEqual([e.status, e.json.status], [0, 'rejected'], e.stderr);
  assert.equal(w.effects().length, 1);
  assert.equal((await w.command('approve', ended)).status, 1);
  assert.deepEqual((await w.command('pending', '--json')).json, { pending: [] });
});

test('cancel ends what waits, and what runs in another process', async (t) => {
  const w = world(t);
  const id = await w.paused('return await local.drop({ what: "a" })');
  const r = await w.command('cancel', id);
  assert.deepEqual([r.status, r.stdout, r.stderr], [0, '', '']);
  assert.equal((await w.command('executions', id, '--json')).json.status, 'cancelled');
  const again = await w.command('cancel', id);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /cancelled/);
  const child = start(['run', '--config', w.config, '-e', 'return await local.slow({})'], { ...w.h, t });
  await appears(w.h.cwd, 'begun');
  const running = (await w.command('executions', '--json', '--limit', '1')).json.executions[0];
  assert.equal(running.status, 'running');
  const ended = once(child, 'exit');
  assert.equal((await w.command('cancel', running.executionId)).status, 0);
  assert.deepEqual(await ended, [130, null]);
});

/** Resolves once the file is there. */
function appears(folder, name) {
  return new Promise((found) => {
    const look = () => existsSync(join(folder, name)) && (watcher.close(), found());
    const watcher = watch(folder, look);
    look();
  });
}

test('a served program pauses with words for the model, and goes on where it stands', async (t) => {
  const w = world(t);
  const { client, transport } = await mcpClient(t, { ...w.h, args: ['--config', w.config] });
  const code = 'const n = Math.random(); await local.note({}); await local.drop({ what: "a" }); return n === n';
  const r = await client.callTool({ name: 'codemode', arguments: { code } });
  assert.equal(r.isError ?? false, false);
  assert.equal(r.structuredContent.status, 'paused');
  const id = r.structuredContent.executionId;
  const words = r.content[1].text;
  assert.match(words, /paused.*human must approve/s);
  assert.match(words, /call \d+: local\.drop \{"what":"a"\}/);
  assert.ok(words.includes(`codemode approve ${id} --config ${w.config}`), words);
  assert.match(words, /Do not send the program again/);
  const approved = await w.command('approve', id);
  assert.deepEqual([approved.status, approved.stdout], [0, 'true\n'], approved.stderr);
  // Both effects are the server's: the command only brought the decision there.
  assert.deepEqual(w.effects().map((line) => Number(line.split(' ')[0])), [transport.pid, transport.pid]);
});

test('a server that was killed leaves what it paused to the command', async (t) => {
  const w = world(t);
  const { client, transport } = await mcpClient(t, { ...w.h, args: ['--config', w.config] });
  const r = await client.callTool({ name: 'codemode', arguments: { code: 'await local.note({}); await local.drop({ what: "a" }); return "end"' } });
  const closed = new Promise((done) => (client.onclose = done));
  process.kill(transport.pid, 'SIGKILL');
  await closed;
  const approved = await w.command('approve', r.structuredContent.executionId);
  assert.deepEqual([approved.status, approved.stdout], [0, 'end\n'], approved.stderr);
  assert.equal(w.effects().length, 2);
  const left = readdirSync(join(w.h.env.XDG_STATE_HOME, 'codemode')).filter((name) => /\.(owner|sock)$/.test(name));
  assert.deepEqual(left, []);
});

test('whoever else answers at the socket only makes the command do it itself', async (t) => {
  const w = world(t);
  const { client, transport } = await mcpClient(t, { ...w.h, args: ['--config', w.config] });
  const answers = {
    closes: (socket) => socket.destroy(),
    garbage: (socket) => socket.write('{"ack":false}\n'),
    'an outcome without an acknowledgement': (socket) => socket.write('{"outcome":{"status":"completed","executionId":"x","result":1}}\n'),
    'no line': (socket) => socket.end('x'.repeat(100_000)),
    silence: () => {},
  };
  const folder = join(w.h.env.XDG_STATE_HOME, 'codemode');
  let path = null;
  for (const [what, answer] of Object.entries(answers)) {
    const r = await client.callTool({ name: 'codemode', arguments: { code: 'await local.drop({ what: "a" }); return 7' } });
    const id = r.structuredContent.executionId;
    path ??= join(folder, readdirSync(folder).find((name) => name.endsWith('.sock')));
    if (what === 'closes') assert.equal(statSync(path).mode & 0o777, 0o600);
    rmSync(path, { force: true });
    const rude = net.createServer((socket) => {
      socket.on('error', () => {}).resume();
      answer(socket);
    });
    rude.listen(path);
    await once(rude, 'listening');
    const before = w.effects().length;
    const approved = await w.command('approve', id);
    assert.deepEqual([approved.status, approved.stdout], [0, '7\n'], `${what}: ${approved.stderr}`);
    assert.equal(w.effects().length, before + 1);
    assert.notEqual(Number(w.effects().at(-1).split(' ')[0]), transport.pid);
    rude.close();
    await once(rude, 'close');
  }
});

test('all that is pending is what was pending when the command began', async (t) => {
  const w = world(t);
  const { client, transport } = await mcpClient(t, { ...w.h, args: ['--config', w.config] });
  const code = 'await local.drop({ what: "a" }); await local.drop({ what: "b" }); return 7';
  const r = await client.callTool({ name: 'codemode', arguments: { code } });
  const id = r.structuredContent.executionId;
  // The server is stopped when it is asked, so that the command goes on by itself, and hears of it when that is over.
  process.kill(transport.pid, 'SIGSTOP');
  const first = await w.command('approve', id);
  process.kill(transport.pid, 'SIGCONT');
  assert.equal(first.status, 3, first.stderr);
  const after = await client.callTool({ name: 'codemode', arguments: { code: 'return "the server has caught up"' } });
  assert.equal(after.structuredContent.status, 'completed');
  assert.deepEqual(w.effects().map(w.args), ['{"what":"a"}']);
  const second = await w.command('approve', id);
  assert.deepEqual([second.status, second.stdout], [0, '7\n'], second.stderr);
  assert.deepEqual(w.effects().map(w.args), ['{"what":"a"}', '{"what":"b"}']);
});

test('whatever is said to the socket, the server goes on', async (t) => {
  const w = world(t);
  const { client } = await mcpClient(t, { ...w.h, args: ['--config', w.config] });
  const r = await client.callTool({ name: 'codemode', arguments: { code: 'await local.drop({ what: "a" }); return 7' } });
  const id = r.structuredContent.executionId;
  const folder = join(w.h.env.XDG_STATE_HOME, 'codemode');
  const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.sock')));
  const say = (text) =>
    new Promise((done) => {
      const socket = net.connect(path, () => socket.write(text));
      let answer = '';
      socket.on('error', () => {}).on('data', (d) => (answer += d)).on('close', () => done(answer)).on('end', () => socket.end());
    });
  assert.equal(await say('garbage\n'), '');
  assert.equal(await say(`${JSON.stringify({ do: 'approve', runtime: 'other', id, seqs: [0] })}\n`), '');
  assert.match(await say(`${JSON.stringify({ do: 'approve', runtime: 'default', id: 'exec_1', seqs: [0] })}\n`), /^\{"ack":true\}\n\{"error":.*exec_1/);
  assert.match(await say(`${JSON.stringify({ do: 'erase', runtime: 'default', id })}\n`), /expected approve/);
  assert.match(await say(`${JSON.stringify({ do: 'approve', runtime: 'default', id, seqs: ['0'] })}\n`), /expected its number/);
  assert.match(await say(`${JSON.stringify({ do: 'approve', runtime: 'default', id })}\n`), /name/);
  assert.deepEqual(w.effects(), []);
  const answer = await say(`${JSON.stringify({ do: 'approve', runtime: 'default', id, seqs: [0] })}\n`);
  assert.equal(JSON.parse(answer.split('\n')[1]).outcome.result, 7);
  assert.equal(w.effects().length, 1);
});

test('pending --watch prints each call once as it comes to wait', async (t) => {
  const w = world(t);
  const first = await w.paused('return await local.drop({ what: "a" })');
  const child = start(['pending', '--watch', '--json', '--config', w.config], { ...w.h, t });
  let text = '';
  child.stdout.on('data', (d) => (text += d));
  const printed = async (id) => {
    while (!text.includes(`"${id}"`)) await once(child.stdout, 'data');
  };
  await printed(first);
  const second = await w.paused('return await local.drop({ what: "b" })');
  await printed(second);
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [130, null]);
  assert.deepEqual(text.trimEnd().split('\n').map((line) => JSON.parse(line).executionId), [first, second]);
});

test('what waits too long expires when it is told to, and is not run any more', async (t) => {
  const w = world(t);
  const id = await w.paused('return await local.drop({ what: "a" })');
  assert.deepEqual((await w.command('prune', '--expire', '3600000', '--json')).json, { expired: 0 });
  assert.deepEqual((await w.command('prune', '--expire', '0', '--json')).json, { expired: 1 });
  const r = await w.command('approve', id);
  assert.equal(r.status, 1);
  assert.match(r.stderr, /expired/);
  assert.deepEqual(w.effects(), []);
  assert.deepEqual((await w.command('prune', '--keep', '0', '--expire', '0')).stdout, 'expired 0 executions\ndeleted 1 execution\n');
});

const noScript = spawnSync('script', ['--version']).status === 0 ? false : 'script(1) is missing';

test('on a terminal the calls are shown and asked about first', { skip: noScript }, async (t) => {
  const w = world(t);
  const id = await w.paused('return await local.drop({ what: "a" })');
  const terminal = (answer, ...args) =>
    run(['-qec', [CODEMODE, 'approve', ...args, '--config', w.config].join(' '), '/dev/null'], {
      program: 'script', stdin: answer, cwd: w.h.cwd, env: environment(w.h.env),
    });
  const no = await terminal('n\n', id);
  assert.equal(no.status, 1, no.stdout);
  assert.match(no.stdout, /call 0 {2}local\.drop\r?\n[^]*"what": "a"[^]*Run this call\? \[y\/N\] [^]*Nothing was approved/);
  assert.deepEqual(w.effects(), []);
  const yes = await terminal('y\n'); // there is only one
  assert.equal(yes.status, 0, yes.stdout);
  assert.equal(w.effects().length, 1);
});
