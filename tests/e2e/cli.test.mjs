// The commands as people and scripts meet them: help, exit statuses, tables, JSON, completion, the manual page, the library.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { BUILD, CODEMODE, privateHome, ROOT, run, SANITIZED, start, untilOutput } from './lib.mjs';

/** What `codemode __commands` prints: {commands: {name: words}, options: [{command, name, metavar}]}. */
async function table(h) {
  const { stdout } = await run(['__commands'], h);
  const rows = stdout.trimEnd().split('\n').map((line) => line.split('\t'));
  return {
    commands: Object.fromEntries(rows.filter((r) => r[0] === 'command').map(([, name, words]) => [name, words])),
    options: rows.filter((r) => r[0] === 'option').map(([, command, name, metavar]) => ({ command, name, metavar })),
  };
}

const LOCAL = {
  codemode: {
    toolsets: {
      local: {
        tools: {
          echo: { command: ['cat'], description: 'Gives its arguments back.', readOnly: true },
          fail: { command: ['sh', '-c', 'echo "no such luck" >&2; exit 4'] },
        },
      },
    },
  },
};

test('every command has help of at most 80 columns with usage and an example', async (t) => {
  const h = privateHome(t);
  const { commands } = await table(h);
  assert.ok(Object.keys(commands).length >= 8);
  for (const name of ['', ...Object.keys(commands)]) {
    const { status, stdout, stderr } = await run([...(name ? [name] : []), '--help'], h);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    assert.match(stdout, /^(codemode runs|usage: codemode )/);
    assert.match(stdout, /examples:\n {2}\S/);
    for (const line of stdout.split('\n')) assert.ok([...line].length <= 80, `${name}: ${line}`);
    assert.equal(name ? (await run(['help', name], h)).stdout : stdout, stdout);
  }
  assert.match((await run(['--version'], h)).stdout, /^codemode \d+\.\d+\.\d+\n$/);
});

test('a wrong command or option ends with status 2 and names what was meant', async (t) => {
  const h = privateHome(t);
  const cases = [
    [['rnu'], /no command is called 'rnu'; did you mean 'run'\?/],
    [['run', '--imput', '{}'], /unknown option '--imput'; did you mean '--input'\?/],
    [['run', '-e'], /'-e' needs a value: CODE/],
    [['run', '-e', '1', 'p.js'], /two programs/],
    [['run', 'a.js', 'b.js'], /'b\.js' is one too many/],
    [['run', 'nowhere.js'], /nowhere\.js.*No such file/],
    [['run', '-e', '1', '--config', '/'], /configuration: '\/': .*Is a directory/],
    [['run', '--json=yes', '-e', '1'], /'--json' takes no value/],
    [['tools', 'serach', 'x'], /'serach': expected 'search QUERY'/],
    [['tools', 'search'], /search for what/],
    [['executions', '--limit', '-3'], /--limit '-3'/],
    [['executions', 'delete'], /delete which/],
    [['call'], /connector\.method/],
    [['types', 'a', '--schema', 'b'], /give one/],
    [['check', 'x'], /one argument too many/],
    [['--store', 'postgres://x', 'run', '-e', '1'], /sqlite:PATH or memory:/],
    [['run', '--runtime', 'a/b', '-e', '1'], /runtime 'a\/b'/],
    [[], /a command is missing/],
  ];
  for (const [args, pattern] of cases) {
    const { status, stdout, stderr } = await run(args, h);
    assert.equal(status, 2, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, pattern);
  }
});

test('global options may stand before and behind the command', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL);
  for (const args of [['--config', config, 'call', 'local.echo', '{"a":1}'], ['call', `--config=${config}`, 'local.echo', '{"a":1}'], ['call', 'local.echo', '{"a":1}', '--config', config]]) {
    assert.equal((await run(args, h)).stdout, '{"a":1}\n');
  }
  assert.equal((await run(['call', 'local.echo', '-', '--config', config], { ...h, stdin: '{"b":2}' })).stdout, '{"b":2}\n');
});

test('call prints the result as run does, and an error with what the tool said', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL);
  const failed = await run(['call', 'local.fail', '--config', config], h);
  assert.equal(failed.status, 1);
  assert.equal(failed.stdout, '');
  assert.match(failed.stderr, /no such luck/);
  const { json } = await run(['call', 'local.echo', '{"a":[1]}', '--json', '--config', config], h);
  assert.equal(json.status, 'completed');
  assert.deepEqual(json.calls.map((c) => [c.connector, c.method, c.state]), [['local', 'echo', 'applied']]);
  for (const [args, status, pattern] of [[['local.ecko'], 1, /echo/], [['nobody.x'], 1, /nobody/], [['local'], 2, /connector\.method/], [['local.echo', '{'], 2, /arguments/]]) {
    const out = await run(['call', ...args, '--config', config], h);
    assert.equal(out.status, status, out.stderr);
    assert.match(out.stderr, pattern);
  }
});

test('executions shows what was run in a table of at most 80 columns, and deletes it', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL);
  const code = 'const text = "wide 日本語 \\u001b[31m ".repeat(20);\nconsole.log("logged");\nawait local.echo({ text });\ntry { await local.fail({}) } catch {}\nreturn { text };';
  const { json } = await run(['run', '--json', '--config', config, '-e', code], h);
  const list = await run(['executions', '--config', config], h);
  assert.match(list.stdout, new RegExp(`^${json.executionId} {2}completed {2}\\d`));
  const { stdout } = await run(['executions', json.executionId, '--config', config], h);
  const width = (line) => [...line].reduce((n, c) => n + (c > '\u1100' ? 2 : 1), 0);
  for (const line of stdout.split('\n')) assert.ok(width(line.replaceAll('…', '.')) <= 80, line);
  assert.doesNotMatch(stdout, /\u001b/);
  assert.match(stdout, /\n {2}status {3}completed\n/);
  assert.match(stdout, /\n {2}# {2}CALL +ARGUMENTS +STATE +MS\n {2}0 {2}local\.echo +\{"text":"wide .*… +applied +\d+\n {2}1 {2}local\.fail +\{\} +failed +\d+\n/);
  assert.match(stdout, /\nconsole\n {2}logged\n/);

  const whole = await run(['executions', json.executionId, '--json', '--config', config], h);
  assert.equal(whole.json.code, code);
  assert.equal(whole.json.runtime, 'default');
  const all = await run(['executions', '--json', '--limit', '1', '--config', config], h);
  assert.deepEqual(all.json.executions.map((e) => e.executionId), [json.executionId]);
  assert.deepEqual((await run(['executions', 'delete', json.executionId, '--json', '--config', config], h)).json, { deleted: json.executionId });
  const gone = await run(['executions', json.executionId, '--config', config], h);
  assert.equal(gone.status, 1);
  assert.ok(gone.stderr.includes(json.executionId));
});

test('tools lists, finds and describes; a name that is none is met with the nearest', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL);
  assert.match((await run(['tools', '--config', config], h)).stdout, /^local\.echo\(.*\n {4}Gives its arguments back\.\nlocal\.fail/);
  const { json } = await run(['tools', 'search', 'arguments', 'back', '--json', '--config', config], h);
  assert.equal(json.results[0].path, 'local.echo');
  assert.equal(json.total >= 1, true);
  assert.match((await run(['tools', 'describe', 'local.echo', '--config', config], h)).stdout, /echo\(/);
  const none = await run(['tools', 'describe', 'local.ecko', '--config', config], h);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /local\.echo/);
});

test('a command that runs no program starts no process for one', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL), mark = join(h.cwd, 'started'), worker = join(h.cwd, 'worker');
  writeFileSync(worker, `#!/bin/sh\necho >>'${mark}'\n`, { mode: 0o755 });
  const env = { ...h.env, CODEMODE_WORKER: worker };
  for (const args of [['tools'], ['tools', 'search', 'echo'], ['types'], ['call', 'local.echo'], ['executions'], ['pending'], ['snippets'],
    ['store', 'backup', 'copy.db'], ['prune', '--keep', '1']]) {
    const { status, stderr } = await run([...args, '--config', config], { ...h, env });
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
    assert.ok(!existsSync(mark), args.join(' '));
  }
  assert.equal((await run(['run', '-e', '1', '--config', config], { ...h, env })).status, 1);
  assert.ok(existsSync(mark));
});

test('types declares what is configured, a bare schema and a bare description', async (t) => {
  const h = privateHome(t);
  const config = h.config(LOCAL);
  assert.match((await run(['types', '--config', config], h)).stdout, /^declare const local: \{/);
  writeFileSync(join(h.cwd, 's.json'), '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}');
  assert.match((await run(['types', '--schema', 's.json', '--name', 'Pet'], h)).stdout, /^type Pet = \{\n +a: number;\n\};?\n/);
  const openapi = join(ROOT, 'examples/demo/petstore.yaml');
  assert.match((await run(['types', '--openapi', openapi, '--name', 'pets'], h)).stdout, /declare const pets: \{[\s\S]*list_pets\(/);
  const { json } = await run(['types', '--openapi', openapi, '--json'], h);
  assert.deepEqual(json.operations.map((o) => `${o.method} ${o.path}`).sort(), ['GET /pets', 'GET /pets/{id}', 'POST /pets']);
  for (const args of [['--schema', 'none.json'], ['--openapi', 's.json']]) {
    const { status, stderr } = await run(['types', ...args], h);
    assert.equal(status, 2);
    assert.ok(stderr.includes(args[1]), stderr);
  }
});

test('normalize prints the program as it would run', async (t) => {
  const h = privateHome(t);
  assert.match((await run(['normalize', '-e', 'Here it is:\n```js\nreturn 1\n```'], h)).stdout, /return 1/);
  const bad = await run(['normalize', '-'], { ...h, stdin: 'return 1 +;' });
  assert.equal(bad.status, 1);
  assert.match(bad.stderr, /SyntaxError.*line 1/);
});

test('normalize says what was read differently, as text and as JSON', async (t) => {
  const h = privateHome(t);
  const typed = '```ts\nconst all: number[] = [1].map(n => await n);\nall\n```\n```js\nlet let\n```';
  const text = await run(['normalize', '-'], { ...h, stdin: typed });
  assert.equal(text.stdout, 'async () => {\nconst all = (await Promise.all([1].map(async n => await n)));\nreturn (all)\n}\n');
  assert.match(text.stderr, /warning: there are 2 code fences.*\n.*warning: line 2: the callback of map/);
  const json = JSON.parse((await run(['normalize', '--json', '-'], { ...h, stdin: typed })).stdout);
  assert.equal(json.code + '\n', text.stdout);
  assert.equal(json.warnings.length, 2);
  const bad = await run(['normalize', '--json', '-e', 'return 1 +;'], h);
  const { error } = JSON.parse(bad.stdout);
  assert.equal(bad.status, 1);
  assert.deepEqual([error.name, error.code, error.line, error.column], ['SyntaxError', 'syntax', 1, 11]);
});

test('the completion and the manual page know every command and option', async (t) => {
  const h = privateHome(t);
  const { commands, options } = await table(h);
  const man = readFileSync(join(ROOT, 'man/codemode.1'), 'utf8').replaceAll('\\-', '-');
  const script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _codemode; printf "%s\\n" "${COMPREPLY[@]}"';
  const complete = (...words) =>
    execFileSync('bash', ['-c', script, 'bash', join(ROOT, 'completions/codemode.bash'), 'codemode', ...words], { encoding: 'utf8', cwd: h.cwd }).trim().split('\n');
  assert.deepEqual(complete('').sort(), [...Object.keys(commands), 'help'].sort());
  for (const [name, words] of Object.entries(commands)) {
    const own = options.filter((o) => o.command === name || o.command === '').map((o) => o.name);
    assert.deepEqual(complete(name, '-').sort(), [...new Set(own)].sort(), name);
    for (const word of words.split(' ').filter(Boolean)) {
      assert.ok(complete(name, word.slice(0, 2)).includes(word), `${name} ${word}`);
      assert.match(man, new RegExp(`^\\.(Cm|It Cm|Op).* ?${word}`, 'm'));
    }
    assert.match(man, new RegExp(`^\\.Ss codemode ${name}$`, 'm'));
  }
  for (const { name } of options) if (name.startsWith('--')) assert.ok(man.includes(name), name);
});

const noGroff = spawnSync('groff', ['--version']).error && 'groff is not installed';
test('the manual page is formatted without a complaint', { skip: noGroff }, () => {
  const { status, stderr } = spawnSync('groff', ['-mandoc', '-ww', '-Tutf8', '-z', join(ROOT, 'man/codemode.1')], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
});

test('the library exports what its header says and nothing else', () => {
  const header = readFileSync(join(ROOT, 'include/codemode.h'), 'utf8');
  const declared = [...header.matchAll(/^CM_API [^;]*?\b(cm_[a-z_]+)\(/gm)].map((m) => m[1]);
  const exported = execFileSync('nm', ['-D', '--defined-only', join(BUILD, 'src/api/libcodemode.so')], { encoding: 'utf8' })
    .trim().split('\n').map((line) => line.split(' ').at(-1)).filter((name) => !name.startsWith('__asan') && !name.startsWith('__odr'));
  assert.ok(declared.length > 30);
  assert.deepEqual(exported.sort(), declared.sort());
});

test('a reader that goes away is an error in words and not a signal', async (t) => {
  const child = start(['run', '-'], { ...privateHome(t), t });
  const stderr = untilOutput(child.stderr, /codemode: standard output: .*\n/);
  const exit = once(child, 'exit');
  const closed = once(child.stdout, 'close');
  child.stdout.destroy();
  await closed;
  child.stdin.end('return 1'); // only now is there anything to write
  await stderr;
  assert.deepEqual(await exit, [1, null]);
});

test('a standard descriptor that is closed is an error of its use, and never a file of ours', async (t) => {
  const h = privateHome(t);
  const cases = [
    ['run -e 1 >&-', 1, '', /^codemode: standard output: Bad file descriptor\n$/],
    ['executions >&-', 1, '', /^codemode: standard output: /],
    ['run -e 1 <&-', 0, '1\n', /^$/],
    ['run - <&-', 2, '', /^codemode: '-': Bad file descriptor\n$/],
    ['run -e 1 2>&-', 0, '1\n', /^$/],
    ['run -e 1 <&- >&- 2>&-', 1, '', /^$/],
    ['serve <&-', 0, '', /^$/], // as if the client had gone
    ['serve >&- </dev/null', 0, '', /^$/],
  ];
  for (const [words, status, stdout, stderr] of cases) {
    const r = await run(['-c', `exec "$0" ${words}`, CODEMODE], { ...h, program: 'sh' });
    assert.deepEqual([r.status, r.signal, r.stdout], [status, null, stdout], `${words}: ${r.stderr}`);
    assert.match(r.stderr, stderr, words);
  }
});

test('too few descriptors, or files that may not grow, are errors in words and not a signal', async (t) => {
  const h = privateHome(t);
  for (const [limit, words] of [['-n 5', /Too many open files/], ['-n 10', /[Tt]oo many open files/], ['-n 14', /[Tt]oo many open files/], ['-f 0', /File too large/]]) {
    const r = await run(['-c', `ulimit ${limit}; exec "$0" run -e 1`, CODEMODE], { ...h, program: 'sh' });
    assert.deepEqual([r.status, r.signal, r.stdout], [1, null, ''], `${limit}: ${r.stderr}`);
    assert.match(r.stderr, words, limit);
  }
});

test('the example of embedding compiles against the header alone and does what it says', async (t) => {
  const h = privateHome(t);
  const program = join(h.cwd, 'embed');
  const library = join(BUILD, 'src/api');
  const sanitize = SANITIZED ? [`-fsanitize=${process.env.CODEMODE_SANITIZE}`] : [];
  execFileSync('cc', ['-std=c17', '-Wall', '-Wextra', '-Werror', ...sanitize, join(ROOT, 'examples/embed/embed.c'), '-I', join(ROOT, 'include'), '-L', library, `-Wl,-rpath,${library}`, '-lcodemode', '-o', program]);
  const { stdout, stderr, status } = await run([], { ...h, program });
  assert.equal(stdout, 'completed: 20 left: there is not that much left\n', stderr);
  assert.equal(status, 0);
});
