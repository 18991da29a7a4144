// Programs as models write them: tests/cases/corpus, each through `codemode serve` against the services of its world.mjs.
// CODEMODE_PROGRAMS names another folder of such files, for rows that are being written; CODEMODE_PROGRAMS_SHOW prints every outcome.
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { caseFile, mcpClient, privateHome, ROOT, run } from './lib.mjs';
import { readCases } from '../cases/corpus/read.mjs';
import { WORLD } from '../cases/corpus/world.mjs';

const rows = readCases(process.env.CODEMODE_PROGRAMS ?? caseFile('corpus'));

// What no message may have: the engine's phrases, names of ours, values shown as nothing.
const JARGON = [/\(evaluating /, /Can't find variable/, /\[object Object\]/, /\b(__proto__ null|entry\.|deliver|realm|prelude|acorn|sucrase)\b/, /undefined\.$/, /\/work\/|\/build\//];

// One server for all: what one program leaves behind must not reach the next.
let shared, release = [];
before(async () => {
  const context = { after: (fn) => release.push(fn) };
  const home = privateHome(context);
  const world = caseFile('corpus', 'world.mjs');
  const config = home.config({
    mcpServers: Object.fromEntries(Object.keys(WORLD).map((name) => [name, { command: process.execPath, args: [world, name] }])),
    codemode: { policy: [{ match: 'crm.delete_*', action: 'approve' }, { match: 'github.merge', action: 'deny' }] },
  });
  const { client } = await mcpClient(context, { ...home, args: ['--config', config] });
  shared = { client, home, config };
});
after(async () => {
  for (const fn of release.reverse()) await fn();
});

async function outcomeOf(row) {
  if (!row.input && !row.limits)
    return (await shared.client.callTool({ name: 'codemode', arguments: { code: row.program } })).structuredContent;
  const args = ['run', '--config', shared.config, '--json', '-'];
  if (row.input) args.push('--input', row.input);
  if (row.limits) args.push('--limits', row.limits);
  return (await run(args, { ...shared.home, stdin: row.program })).json;
}

function includes(text, words, what) {
  assert.ok(text.includes(words), `${what} lacks '${words}': ${text}`);
}

function checkError(row, error) {
  const { message } = error;
  for (const words of row.failed ?? []) includes(message, words, 'the message');
  for (const words of row.not ?? []) assert.ok(!message.includes(words), `the message has '${words}': ${message}`);
  for (const pattern of JARGON) assert.doesNotMatch(message, pattern);
  for (const key of ['name', 'code', 'source'])
    if (key in row) assert.equal(error[key], row[key], `error.${key}`);
  assert.equal(error.line, row.line === undefined ? undefined : Number(row.line), `error.line of: ${message}`);
  if (row.column) assert.equal(error.column, Number(row.column), 'error.column');
}

function check(row, outcome) {
  const seen = JSON.stringify(outcome, null, 1);
  const failing = 'failed' in row;
  assert.equal(outcome.status, row.status ?? (failing ? 'error' : 'completed'), seen);
  if (failing) checkError(row, outcome.error);
  if (row.result === 'any') assert.ok('result' in outcome, seen);
  else if ('result' in row) assert.deepEqual(outcome.result, JSON.parse(row.result));
  else if ('text' in row) assert.equal(outcome.result, row.text);
  else assert.ok(!('result' in outcome), seen);
  for (const words of row.shows ?? []) includes(seen, words, 'the outcome');
  const warnings = outcome.warnings ?? [];
  for (const words of row.warns ?? []) includes(warnings.join('\n'), words, 'the warnings');
  if (!row.warns) assert.deepEqual(warnings, [], 'warnings');
  if (!row.logs) assert.deepEqual(outcome.logs ?? [], row.log ?? [], 'logs');
  if (row.call) {
    const calls = (outcome.calls ?? []).map((c) => `${c.connector}.${c.method} ${JSON.stringify(c.args) ?? ''}`.trim());
    assert.deepEqual(calls, row.call);
  }
}

for (const row of rows) {
  assert.ok(['result', 'text', 'nothing', 'failed', 'status'].some((key) => key in row), `${row.file}: '${row.title}' expects nothing`);
  test(`${row.file.replace('.txt', '')}: ${row.title}`, async () => check(row, await outcomeOf(row)));
}

test('what is expected of programs that complete is what Node makes of them', async () => {
  const { status, stdout, stderr } = await run([caseFile('corpus', 'oracle.mjs')], { program: process.execPath });
  assert.equal(status, 0, stdout + stderr);
  assert.ok(Number(/^(\d+) of/m.exec(stdout)?.[1]) > 200, stdout);
});

if (process.env.CODEMODE_PROGRAMS_SHOW)
  test('what was said', async () => {
    for (const row of rows) {
      const { error, warnings, status, result, logs } = await outcomeOf(row);
      console.log(JSON.stringify({ file: row.file, title: row.title, program: row.program, status, result, error, warnings, logs }));
    }
  });
