// docs/globals.md beside the global object as a program sees it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import vm from 'node:vm';
import { privateHome, ROOT, run } from './lib.mjs';

/** {section: [name]} of the tables: names are what stands in backquotes in the first column. */
function readTables() {
  const sections = {};
  let names;
  for (const line of readFileSync(join(ROOT, 'docs/globals.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) names = sections[line.slice(3)] = [];
    else if (line.startsWith('| `')) names.push(...[...line.split(' | ')[0].matchAll(/`([^`]+)`/g)].map((m) => m[1]));
  }
  return sections;
}

const tables = readTables();
const absent = tables.Absent;
const present = Object.entries(tables).filter(([title]) => title !== 'Absent').flatMap(([, names]) => names);

async function evaluate(t, code, ...args) {
  const { json, stdout } = await run(['run', '--json', '-', ...args], { ...privateHome(t), stdin: code });
  assert.equal(json.status, 'completed', stdout);
  return json;
}

test('every global is in the table, and everything in the table is there', async (t) => {
  const { result } = await evaluate(t, 'return Reflect.ownKeys(globalThis).map(String)', '--input', '1');
  assert.deepEqual(result.filter((name) => !present.includes(name)), [], 'not in the table');
  assert.deepEqual(present.filter((name) => !result.includes(name)), [], 'only in the table');
  assert.equal(new Set([...present, ...absent]).size, present.length + absent.length, 'a name stands in the table twice');
});

test('what the language has elsewhere is here, or is said to be absent', () => {
  const theirs = [...vm.runInNewContext('Object.getOwnPropertyNames(globalThis)')].filter((name) => name !== 'console');
  const missing = theirs.filter((name) => !present.includes(name) && !absent.includes(name));
  assert.deepEqual(missing, []);
});

test('the console and the others of ours have the members that the table names', async (t) => {
  const text = readFileSync(join(ROOT, 'docs/globals.md'), 'utf8');
  const { result } = await evaluate(t, 'return { console: Object.keys(console), codemode: Object.keys(codemode) }');
  const row = (name) => text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
  const named = [...row('console').split('`logs`: ')[1].split('. ')[0].matchAll(/`(\w+)`/g)].map((m) => m[1]);
  assert.deepEqual(named, result.console.sort());
  for (const member of result.codemode) assert.ok(row('codemode').includes(`\`codemode.${member}(`), member);
});

test('each absent name is undefined to typeof, and its use says what to write instead', async (t) => {
  const code = `const said = {};
for (const name of ${JSON.stringify(absent)}) {
  if (eval('typeof ' + name) !== 'undefined') said[name] = 'exists';
}
return said`;
  assert.deepEqual((await evaluate(t, code)).result, {});
  const source = readFileSync(join(ROOT, 'js/prelude/absent.js'), 'utf8');
  const table = source.slice(source.indexOf('const table = {'), source.indexOf('\n    };', source.indexOf('const table = {')));
  const told = [...table.matchAll(/^ {8}(.*)$/gm)].flatMap(([, line]) => [...line.replace(/'(?:\\.|[^'])*'/g, '').matchAll(/(?<![.\w$])([\w$]+)(?=:|,|$)/g)])
    .map((m) => m[1]).filter((name) => present.includes(name) || absent.includes(name));
  const untold = absent.filter((name) => !told.includes(name));
  assert.deepEqual(untold, [], 'no advice in js/prelude/absent.js');
});

test('the advice reaches the reader of the error', async (t) => {
  const h = privateHome(t);
  for (const name of ['require', 'localStorage', 'lodash', 'None', 'SharedArrayBuffer', '_']) {
    const { json } = await run(['run', '--json', '-e', `${name}.x`], h);
    assert.equal(json.error.name, 'ReferenceError');
    assert.match(json.error.message, new RegExp(`^${name.replace('$', '\\$')} is not defined\\. (?!Globals here)`));
  }
});
