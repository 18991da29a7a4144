// Each check of `make check` finds what it is there to find, and nothing in a tree that is in order. The trees are small ones
// made here, with the checks copied into them.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { ROOT, run, scratch } from './lib.mjs';

const header = (name, body = '') => `/** ${name}: a header. */\n#ifndef X_${name.toUpperCase()}_H\n#define X_${name.toUpperCase()}_H\n\n${body}\n\n#endif\n`;

const good = {
  'src/LAYERS': 'base: @codemode.h\njson: base @yyjson.h\ncli: base json\n',
  'src/base/base.h': header('base', 'int cm_base(void);'),
  'src/base/base.c': '#include "base/base.h"\n\nint cm_base(void)\n{\n    return 1; /* strcpy(a, b) in a comment is no call */\n}\n',
  'src/base/meson.build': "x = ['base.c']\nlib = dependency('nettle')\n",
  'src/json/json.h': header('json', '#include "base/base.h"\n\n#include <yyjson.h>'),
  'tools/packages.debian': '# list\nbuild  nettle-dev  pc:nettle  hashes\n',
  'package.json': '{"devDependencies": {"acorn": "8.0.0"}}\n',
  'package-lock.json': '{"packages": {"node_modules/acorn": {"version": "8.0.0"}}}\n',
  'README.md': '# A\n\nSee [below](#part-two) and [the layers](src/LAYERS).\n\n## Part two\n\n`[no](link.md)`\n',
};

// Words in pieces where the tree's own check would find them here.
const bad = [
  ['layers', 'an include of a layer above', { 'src/base/up.c': '#include "json/json.h"\n' }, /up\.c:1: base may not include "json\/json\.h"/],
  ['layers', 'a foreign header outside its owner', { 'src/cli/a.c': '#include <yyjson.h>\n' }, /a\.c:1: <yyjson\.h> belongs to json/],
  ['layers', 'a folder without a row', { 'src/extra/a.c': 'int x;\n' }, /src\/extra has no row/],
  ['banned', 'a banned call', { 'src/base/a.c': 'void f(char *a, const char *b)\n{\n    strcpy(a, b);\n}\n' }, /a\.c:3: strcpy\(\) is banned; use cm_buf/],
  ['length', 'a long function', { 'src/base/a.c': `void cm_f(void)\n{\n${'    cm_g();\n'.repeat(130)}}\n` }, /cm_f\(\) has 132 lines, at most 120/],
  ['length', 'a long file', { 'src/base/a.c': 'int x;\n'.repeat(701) }, /a\.c: the file has 701 lines, at most 700/],
  ['length', 'a row of the list that is not needed', { 'tools/checks/long.txt': 'src/base/base.c none\n' }, /base\.c is short now/],
  ['names', 'a host without a row', { 'docs/a.md': 'http://some' + 'where.io/x\n' }, /a\.md:1: names the host 'somewhere\.io'/],
  ['names', 'a registry', { 'docs/a.md': 'from registry.np' + 'm.x\n' }, /a\.md:1: names a package registry/],
  ['names', 'a path of one machine', { 'docs/a.md': 'cd /ro' + 'ot/x\n' }, /a\.md:1: names a path of one machine/],
  ['names', 'unfinished work', { 'src/base/a.c': '/* TO' + 'DO: later */\n' }, /a\.c:1: unfinished work/],
  ['names', 'a lock that names a host', { 'package-lock.json': '{\n"resolved": "https://r.example/a.tgz"\n}\n' }, /package-lock\.json:2: names where/],
  ['names', 'a lock elsewhere that names a host', { 'a/package-lock.json': '{\n"resolved": "https://r.example/a.tgz"\n}\n' }, /a\/package-lock\.json:2: names where/],
  ['inputs', 'a library that setup does not install', { 'meson.build': "dependency('libfoo')\n" }, /depends on 'libfoo'; add a row/],
  ['inputs', 'a source that is not built', { 'src/base/lost.c': 'int x;\n' }, /lost\.c: not built/],
  ['inputs', 'a version that is not exact', { 'package.json': '{"dependencies": {"a": "^1.0.0"}}\n' }, /a is '\^1\.0\.0'; an exact version/],
  ['inputs', 'a version elsewhere that is not exact', { 'b/package.json': '{"optionalDependencies": {"a": "~1.0.0"}}\n' }, /b\/package\.json: a is '~1\.0\.0'/],
  ['scripts', 'a script that does not parse', { 'tools/a.mjs': 'let let = 1;\n' }, /a\.mjs: does not parse/],
  ['scripts', 'a program that may not be executed', { 'tools/b': '#!/bin/sh\ntrue\n' }, /tools\/b: starts with #!/],
  ['docs', 'a link that leads nowhere', { 'docs/a.md': '[x](gone.md)\n' }, /a\.md:1: the link 'gone\.md' leads nowhere/],
  ['docs', 'a fragment that no heading has', { 'docs/a.md': '[x](../README.md#part-three)\n' }, /has no heading '#part-three'/],
  ['docs', 'an option that is documented nowhere', {}, /says nothing of '--secret', which codemode run --help shows/],
];

const help = `#!/bin/sh
case $1 in
--help) printf 'usage: codemode COMMAND\\n\\nCommands:\\n  run   run a program\\n' ;;
*) printf 'usage: codemode run\\n\\n  --secret  hidden\\n  --help  this\\n' ;;
esac
`;

function tree(t, files) {
  const root = scratch(t);
  cpSync(join(ROOT, 'tools/checks'), join(root, 'tools/checks'), { recursive: true });
  for (const [path, text] of Object.entries({ 'build/src/cli/codemode': help, ...good, 'tools/checks/long.txt': '', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: path.startsWith('build/') ? 0o755 : 0o644 });
  }
  writeFileSync(join(root, '.gitignore'), '/build\n');
  execFileSync('git', ['init', '-q'], { cwd: root });
  return (check) => run([join(root, 'tools/checks', `${check}.mjs`)], { program: process.execPath, cwd: root, env: { CODEMODE_BUILD: join(root, 'build') } });
}

for (const [check, what, files, expected] of bad) {
  test(`check ${check} finds ${what}`, async (t) => {
    const r = await tree(t, files)(check);
    assert.match(r.stdout, expected, r.stderr);
    assert.equal(r.status, 1);
  });
}

test('a tree in order passes', async (t) => {
  const words = 'run --secret --help\n';
  const look = tree(t, { 'man/codemode.1': words.replace(/-/g, '\\-'), 'docs/a.md': words });
  for (const check of ['layers', 'banned', 'length', 'names', 'inputs', 'scripts', 'docs']) {
    const r = await look(check);
    assert.deepEqual([check, r.stdout, r.status], [check, '', 0], r.stderr);
  }
});
