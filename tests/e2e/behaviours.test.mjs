// Each behaviour that the reference product's tests pin (tests/cases/behaviours) has a test or a case of ours, or a sentence that says what is
// otherwise here; and what it names is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'node:test';
import assert from 'node:assert/strict';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const CASES = join(ROOT, 'tests/cases/behaviours');
const text = (...path) => readFileSync(join(ROOT, ...path), 'utf8').replace(/\s+/g, ' ');

/** Whether what a row names is there. */
const kinds = {
  unit: (file, name) => text('tests/unit', `${file}.c`).includes(`static void ${name}(void **state)`), // what is not run is a warning of the compiler
  e2e: (file, title) => text('tests/e2e', `${file}.test.mjs`).includes(`test('${title}'`),
  cases: (file) => existsSync(join(ROOT, 'tests/cases', file)),
  docs: (file, words) => words && text('docs', file).includes(words),
};

for (const file of readdirSync(CASES)) {
  test(`what ${file} names is there`, () => {
    const missing = [];
    let rows = 0;
    let shown = 1;
    for (const line of readFileSync(join(CASES, file), 'utf8').split('\n')) {
      if (/^(#|$)/.test(line)) continue;
      const at = /^ {4}(\w+)\/(\S+)(?: (.*))?$/.exec(line);
      if (!at) {
        if (!shown) missing.push(`above "${line}": shown by nothing`);
        rows++;
        shown = 0;
        continue;
      }
      shown++;
      assert.ok(kinds[at[1]], `${line}: expected one of ${Object.keys(kinds)}`);
      if (!kinds[at[1]](at[2], at[3])) missing.push(line.trim());
    }
    if (!shown) missing.push('the last one: shown by nothing');
    assert.deepEqual(missing, []);
    assert.ok(rows > 0);
  });
}
