// The fuzz targets that are written in JavaScript (tests/fuzz/fuzz_<name>.mjs): what once broke one, and some hundred inputs from a
// fixed seed. `make fuzz` looks for more. The targets in C replay their corpora as tests of their own.
import assert from 'node:assert/strict';
import test from 'node:test';
import { minimise, replay, search } from '../fuzz/fuzz.mjs';

for (const [name, most] of [['texts', 800], ['values', 1500]]) {
  test(`${name}: what broke once holds`, async () => {
    assert.ok((await replay(name)) > 0);
  });

  test(`${name}: ${most} inputs from a fixed seed hold`, async () => {
    const { n, found } = await search(name, { seed: 1, most });
    assert.equal(found, undefined, found && `${found.message}\n${JSON.stringify(found.text)}`);
    assert.equal(n, most);
  });
}

test('what breaks is cut down as far as it breaks in the same way', () => {
  const check = (text) => assert.ok(!text.includes('xyz'), 'has it');
  assert.equal(minimise(check, `some text ${'xyz'} and more of it, much more`), 'xyz');
});
