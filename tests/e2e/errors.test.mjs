// docs/errors.md lists every code that an error can have, and none that nothing gives.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { ROOT } from './lib.mjs';

function sources(folder, ends) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((e) => {
    const path = join(folder, e.name);
    if (e.isDirectory()) return sources(path, ends);
    return ends.test(e.name) ? [[path, readFileSync(join(ROOT, path), 'utf8')]] : [];
  });
}

// Where a code stands in the sources: calls that take one, tables of them, JSON made by hand.
const C = [
  /rt_call_fail\([^;"]*?, "([a-z_]+)"/g, /rt_exec_end\([^;"]*?, "([a-z_]+)"/g, /cm_call__fail\([^;"]*?, "([a-z_]+)"/g, /\bX\("([a-z_]+)"\)/g,
  /(?:fail_run|fail_text|end_call|cm_err_limit|cm_pass_stop)\([^;"]*?, "([a-z_]+)"/g, /\{CM_PASS_[A-Z]+, "([a-z_]+)"/g, /X\([A-Z_]+, "([a-z_]+)"\)/g,
  /\\"code\\":\\"([a-z_]+)\\"/g, /#define RT_[A-Z_]+ "([a-z_]+)"/g, /== CM_E_[A-Z]+ *\? "([a-z]+)"/g, /: "(unavailable)"/g,
];
const JS = [/define\([\w.]+, 'code', '([a-z_]+)'/g, /new Refusal\((?:[^;]*?), '([a-z_]+)'\)/g, /code: [^,\n]*'([a-z_]+)'/g];

function codesIn(files, patterns) {
  const found = new Map();
  for (const [path, text] of files)
    for (const pattern of patterns)
      for (const [, code] of text.matchAll(pattern)) found.set(code, path);
  return found;
}

const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map((m) => m[1]);
const said = new Set([...rows, ...[...page.matchAll(/`((?:E_[A-Z]+)|[a-z]+_limit)`/g)].map((m) => m[1])]);

test('every code of the sources is in the list', () => {
  const folders = ['runtime', 'connector', 'sandbox', 'store', 'worker', 'api', 'serve'];
  // The store's headers have tables of states, which are no codes.
  const found = codesIn(folders.flatMap((f) => sources(`src/${f}`, f === 'store' ? /\.c$/ : /\.[ch]$/)), C);
  for (const [code, path] of codesIn(['js/prelude', 'js/service'].flatMap((f) => sources(f, /\.js$/)), JS)) found.set(code, path);
  assert.ok(found.size > 35, `only ${found.size} codes were found`);
  for (const [code, path] of found) assert.ok(said.has(code), `${path} gives the code '${code}', which docs/errors.md does not have`);
});

test('every code of the list is somewhere in the sources', () => {
  const all = [...sources('src', /\.[ch]$/), ...sources('js', /\.js$/)].map(([, text]) => text).join('\n');
  for (const code of rows) assert.match(all, new RegExp(`["']${code}\\\\?["']`), `nothing gives '${code}'`);
});

test('every status is in the list', () => {
  const header = readFileSync(join(ROOT, 'include/codemode.h'), 'utf8');
  const names = [...header.matchAll(/X\((E_[A-Z]+), "/g)].map((m) => m[1]);
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(said.has(name), `${name} is not in docs/errors.md`);
});
