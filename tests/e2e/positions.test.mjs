// The places that tests/cases/positions expects of our engine, asked of another one: V8, which runs this file. A case says where the
// two may differ: "node line" compares the line only, "node none" nothing, each with the reason.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const folder = fileURLToPath(new URL('../cases/positions/', import.meta.url));

function read(name) {
  const cases = [];
  for (const block of readFileSync(join(folder, name), 'utf8').split(/^=== /m).slice(1)) {
    const [title, ...lines] = block.split('\n');
    const from = lines.findIndex((line) => line.startsWith('--- '));
    const keys = new Map();
    for (const line of lines.slice(from)) {
      const [, key, value] = /^--- (\S+) ?(.*)$/.exec(line) ?? [];
      if (key) keys.set(key, value);
    }
    const program = lines.slice(0, from).join('\n');
    cases.push({ title, keys, program: (keys.has('bom') ? '\ufeff' : '') + (keys.has('crlf') ? program.replaceAll('\n', '\r\n') : program) });
  }
  return cases;
}

const demo = {
  echo: async (value) => value,
  list: async () => [{ id: 1, size: 2 }, { id: 2, size: 3 }],
  fail: () => Promise.reject(new Error('no issue 7')),
};

// {line, column} at which the program fails there. Its first line has nothing before it.
async function place(program) {
  const context = vm.createContext({ demo, console: { log() {} } });
  try {
    await new vm.Script(`(async () => {\n${program}\n})`, { filename: 'program.js', lineOffset: -1 }).runInContext(context)();
  } catch (error) {
    const at = /program\.js:(\d+):(\d+)/.exec(error.stack);
    if (at) return { line: Number(at[1]), column: Number(at[2]) };
    const [where, , mark] = error.stack.split('\n');
    return { line: Number(/:(\d+)$/.exec(where)[1]), column: mark.indexOf('^') + 1 };
  }
  throw new Error('it did not fail');
}

let compared = 0;

for (const name of readdirSync(folder)) {
  test(`${name}: another engine points at the same places`, async () => {
    for (const { title, keys, program } of read(name)) {
      const how = (keys.get('node') ?? 'all').split(' ')[0];
      if (how === 'none') continue;
      const { line, column } = await place(program);
      assert.equal(Number(keys.get('line')), line, `${title}: line`);
      if (how === 'all' && keys.has('column')) assert.equal(Number(keys.get('column')), column, `${title}: column`);
      compared++;
    }
  });
}

test('at least sixty programs were compared', () => assert.ok(compared >= 60, `${compared}`));
