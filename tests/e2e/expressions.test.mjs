// Every regular expression of the sandbox's scripts against texts that are slow for badly made ones: a program's text is anybody's.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { tokenizer } from 'acorn';
import { ROOT } from './lib.mjs';

const FOLDERS = ['js/service', 'js/prelude', 'js/web'];
const PIECES = ['a', 'a ', 'a=', '{', '[', '"', '`', ' ', '\n', '<', '(', ')', ';', '=', '0', '-', '\\', 'é'];
// Far more than the slowest needs. An exponential one would not end at all with the longer texts: the short ones come first.
const MOST_MS = 1000;

function* texts() {
  for (const n of [13, 30, 2000])
    for (const a of PIECES)
      for (const b of PIECES) yield `${(a + b).repeat(n)}*`;
}

function expressionsOf(path) {
  const found = [];
  for (const token of tokenizer(readFileSync(path, 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' }))
    if (token.type.label === 'regexp') found.push(new RegExp(token.value.pattern, token.value.flags));
  return found;
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

for (const folder of FOLDERS) {
  test(`no expression of ${folder} is slow`, () => {
    const all = [...texts()];
    let n = 0;
    for (const name of readdirSync(join(ROOT, folder)).filter((f) => f.endsWith('.js'))) {
      for (const expression of expressionsOf(join(ROOT, folder, name))) {
        n++;
        for (const text of all) {
          const begin = cpuMs();
          expression.lastIndex = 0;
          expression.test(text);
          assert.ok(cpuMs() - begin < MOST_MS, `${name}: ${expression} took ${Math.round(cpuMs() - begin)} ms for ${JSON.stringify(text.slice(0, 20))}… of ${text.length}`);
        }
      }
    }
    assert.ok(n > 0 || folder !== 'js/service', 'there are expressions');
  });
}
