// Modules of the configuration, from the file to the error a person reads; what programs do with them is tests/cases/modules.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mcpClient, privateHome, run } from './lib.mjs';

const HELPERS = 'import { year } from "dates";\nexport const when = (d) => `in ${year(d)}`;\nexport default function deep(o) {\n\treturn o.a.b;\n}\n';

function home(t, modules) {
  const place = privateHome(t);
  mkdirSync(join(place.cwd, 'lib'));
  writeFileSync(join(place.cwd, 'lib/helpers.js'), HELPERS);
  const config = place.config({ codemode: { modules: modules ?? {
    'helpers.js': 'lib/helpers.js', dates: { code: 'export const year = (d) => new Date(d).getUTCFullYear();' },
  } } });
  return { ...place, args: ['--config', config] };
}

const evaluate = ({ env, cwd, args }, code) => run(['run', ...args, '-e', code], { env, cwd });

test('a file and a text are modules, and import each other', async (t) => {
  const { stdout, stderr } = await evaluate(home(t), 'import { when } from "./helpers.js"; return when("2024-05-01")');
  assert.equal(stderr, '');
  assert.equal(stdout, 'in 2024\n');
});

test('an error inside of a module shows the module\'s line, and who called it', async (t) => {
  const { status, stderr } = await evaluate(home(t), 'import deep from "helpers";\n  deep({});');
  assert.equal(status, 1);
  assert.ok(stderr.endsWith('\n  in module helpers.js\n  4 | return o.a.b;\n    |            ^\n    at (program.js:2:3)\n'), stderr);
});

test('modules are named where connectors are: types, the tool\'s description, an import of what is not there', async (t) => {
  const place = home(t);
  const types = await run(['types', ...place.args], place);
  assert.equal(types.stdout, 'declare module "helpers.js";\ndeclare module "dates";\n');
  const { stderr } = await evaluate(place, 'import _ from "lodash"');
  assert.match(stderr, /import from 'lodash' is not possible.*Modules here: helpers\.js, dates\./);
  const { client } = await mcpClient(t, { args: place.args, env: place.env, cwd: place.cwd });
  const { tools } = await client.listTools();
  assert.match(tools[0].description, /Modules that can be imported: helpers\.js, dates\./);
});

test('what is shown of a program imports modules as programs do', async (t) => {
  const place = home(t);
  const { stdout } = await run(['normalize', ...place.args, '-e', 'import deep, { when as w } from "helpers.js";\nreturn w(0)'], place);
  assert.equal(stdout, 'async () => {\nconst { default: deep, when: w } = await import("helpers.js");\nreturn w(0)\n}\n');
});

test('a served failure has its line as text beside the outcome', async (t) => {
  const place = home(t);
  const { client } = await mcpClient(t, { args: place.args, env: place.env, cwd: place.cwd });
  const { content, structuredContent, isError } = await client.callTool({ name: 'codemode', arguments: { code: 'const o = {};\n\to.missing();' } });
  assert.equal(isError, true);
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  assert.ok(content[1].text.endsWith('\n  2 | o.missing();\n    |   ^'), content[1].text);
  const { line, column, source, caret } = structuredContent.error;
  assert.deepEqual({ line, column, source, caret }, { line: 2, column: 4, source: 'o.missing();', caret: 2 });
});

test('a module that cannot be read ends the start, by its key', async (t) => {
  for (const [modules, expected] of [
    [{ a: 'lib/none.js' }, /codemode\.modules\.a: cannot open '.*lib\/none\.js': No such file/],
    [{ a: { code: 'x'.repeat(1 << 20) } }, /codemode\.modules: the modules have more than 1048576 bytes in all/],
    [{ a: {} }, /codemode\.modules\.a: is an object; expected the path/],
  ]) {
    const { status, stderr } = await evaluate(home(t, modules), 'return 1');
    assert.equal(status, 2);
    assert.match(stderr, expected);
  }
});
