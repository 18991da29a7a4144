// What the build asks for is what tools/setup installs, and what is written is built: a library in meson.build has a row in
// tools/packages.debian and back; a C file stands in its folder's meson.build; a unit test has its row.
import { basename, dirname } from 'node:path';
import { dependencies, files, finding, finish, read, readLines, sources } from './tree.mjs';

const LIST = 'tools/packages.debian';
const rows = readLines(LIST)
  .map((line, i) => ({ line: i + 1, words: line.trim().split(/\s+/) }))
  .filter(({ words }) => words[0] && !words[0].startsWith('#'));
for (const { line, words } of rows) {
  if (words.length < 4 || !/^(build|test|check)$/.test(words[0])) finding(LIST, line, 'expected: level package probe reason');
}

const installed = new Map(rows.filter(({ words }) => words[2]?.startsWith('pc:')).map(({ line, words }) => [words[2].slice(3), line]));
const used = dependencies();
for (const name of used) if (!installed.has(name)) finding(LIST, 0, `meson.build depends on '${name}'; add a row with the probe pc:${name}`);
for (const [name, line] of installed) if (!used.includes(name)) finding(LIST, line, `no meson.build depends on '${name}'; remove the row`);

for (const path of sources('src|tests/unit', 'c')) {
  const description = `${dirname(path)}/meson.build`;
  const named = [`'${basename(path)}'`, `'${basename(path, '.c')}'`]; // unit tests are rows without .c
  if (!files.includes(description) || !named.some((n) => read(description).includes(n))) finding(path, 0, `not built; name it in ${description}`);
}

for (const path of files.filter((p) => basename(p) === 'package.json')) {
  const { dependencies: needed, devDependencies: peers, optionalDependencies: optional } = JSON.parse(read(path));
  for (const [name, version] of Object.entries({ ...needed, ...peers, ...optional })) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) finding(path, 0, `${name} is '${version}'; an exact version is required`);
  }
}
finish();
