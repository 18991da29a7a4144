// The npm package @cloudflare/codemode beside codemode: its own functions and ours get the same inputs (tests/cases/reference), and
// what they make of them is compared. Where the two differ, the case names a row of docs/differences.md, which has the reason; a
// difference without a row, a row without a difference, and a row that no case names fail.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import ts from 'typescript';
import { BUILD, ROOT, caseFile, mcpClient, privateHome, scratch } from './lib.mjs';

const DUMP = join(BUILD, 'tests/unit/schema_dump');
const read = (name) => readFileSync(caseFile('reference', name), 'utf8');

/** The ids of the rows of docs/differences.md. */
const listed = new Set(
  [...readFileSync(join(ROOT, 'docs/differences.md'), 'utf8').matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map((m) => m[1]));
const named = new Set();

const short = (value) => JSON.stringify(value).replace(/(?:\\n|\s)+/g, ' ').slice(0, 400);

/** A difference is one that is listed, and what is listed is one. */
function compare(name, differs, same, both) {
  if (differs) {
    named.add(differs);
    assert.ok(listed.has(differs), `${name}: '${differs}' is no row of docs/differences.md`);
    assert.ok(!same, `${name}: is listed as '${differs}', but both give ${short(both[0])}`);
  } else assert.ok(same, `${name}: the reference gives ${short(both[0])}, codemode ${short(both[1])}`);
}

// What the package needs of its platform to be loaded; nothing of it runs here.
const platform = {
  name: 'platform',
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, (args) => ({ path: args.path, namespace: 'platform' }));
    build.onLoad({ filter: /./, namespace: 'platform' }, () => ({
      contents: 'export class DurableObject {}; export class RpcTarget {}; export class WorkerEntrypoint {}; export const exports = {};',
    }));
  },
};

async function reference(t) {
  const { build } = await import('esbuild');
  const outfile = join(scratch(t), 'reference.mjs');
  await build({
    stdin: { contents: "export * from '@cloudflare/codemode';", resolveDir: ROOT }, bundle: true, format: 'esm', platform: 'node', outfile,
    logLevel: 'error', plugins: [platform],
  });
  return import(pathToFileURL(outfile));
}

/** {text, differs?} by name; "=== name" begins a case, "--- differs ID" ends its text. */
function programCases() {
  return read('programs.txt').split(/^=== /m).slice(1).map((one) => {
    const [name, ...rest] = one.split('\n');
    const [text, differs] = rest.join('\n').replace(/\n$/, '').split(/\n--- differs /);
    return { name, text, differs };
  });
}

/** What a value is after its way out: JSON, where an absent value is the word undefined. */
const shown = (value) => (value === undefined ? 'undefined' : JSON.stringify(value) ?? typeof value);

/** The package's text run as its executor runs it: in strict code, as an expression in brackets, called without arguments. */
async function theirs(normalizeCode, text) {
  try {
    const context = vm.createContext({ console: { log() {} } });
    return { value: shown(await vm.runInContext(`'use strict';(${normalizeCode(text)}\n)()`, context)) };
  } catch {
    return { failed: true };
  }
}

function ours(outcome) {
  return outcome.status === 'completed' ? { value: shown(outcome.result) } : { failed: true };
}

test('programs give the same results', async (t) => {
  const { normalizeCode } = await reference(t);
  const home = privateHome(t);
  const { client } = await mcpClient(t, { ...home, args: ['--config', home.config({ mcpServers: {} })] });
  const cases = programCases();
  assert.ok(cases.length >= 100);
  const wrong = [];
  for (const { name, text, differs } of cases) {
    const { structuredContent } = await client.callTool({ name: 'codemode', arguments: { code: text } });
    const both = [await theirs(normalizeCode, text), ours(structuredContent)];
    try {
      compare(name, differs, JSON.stringify(both[0]) === JSON.stringify(both[1]), both);
    } catch (e) {
      wrong.push(`${e.message}${structuredContent.error ? `: ${structuredContent.error.message}` : ''}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('what the reference makes of a program is a program for codemode, and gives the same', async (t) => {
  const { normalizeCode } = await reference(t);
  const home = privateHome(t);
  const { client } = await mcpClient(t, { ...home, args: ['--config', home.config({ mcpServers: {} })] });
  for (const { name, text, differs } of programCases().filter((c) => !c.differs)) {
    const code = normalizeCode(text);
    const { structuredContent } = await client.callTool({ name: 'codemode', arguments: { code } });
    assert.deepEqual(ours(structuredContent), await theirs(normalizeCode, text), `${name}: ${code}`);
    assert.equal(differs, undefined);
  }
});

test('names of tools become the same identifiers', async (t) => {
  const { sanitizeToolName } = await reference(t);
  const names = JSON.parse(read('names.json'));
  const made = JSON.parse(execFileSync(DUMP, ['names', '-', caseFile('reference', 'names.json')], { encoding: 'utf8' }));
  const differing = JSON.parse(read('names-differ.json'));
  assert.equal(made.length, names.length);
  const wrong = [];
  names.forEach((name, i) => {
    const both = [sanitizeToolName(name), made[i]];
    try {
      compare(JSON.stringify(name), Object.hasOwn(differing, name) ? differing[name] : undefined, both[0] === both[1], both);
    } catch (e) {
      wrong.push(e.message);
    }
  });
  assert.deepEqual(wrong, []);
});

/** The package's type; what it cannot read is unknown to it, as in its generateTypesFromJsonSchema. */
function typeOf(jsonSchemaToType, schema) {
  try {
    return jsonSchemaToType(schema, 'T');
  } catch {
    return 'type T = unknown';
  }
}

/** Which of [theirs, ours] is not assignable to the other, by the real compiler; '' when both are. */
function unassignable(folder, pairs) {
  const files = pairs.map(({ name, their, our }) => {
    const path = join(folder, `${name}.ts`);
    const text = `namespace Theirs {\n${their.replace(/^(?=(type|interface) )/gm, 'export ')}\n}\nnamespace Ours {\n${
      our.replace(/^(?=(type|interface) )/gm, 'export ')}\n}\n`
      + 'declare const theirs: Theirs.T, ours: Ours.T;\nexport const a: Ours.T = theirs;\nexport const b: Theirs.T = ours;\n';
    writeFileSync(path, text);
    return path;
  });
  const program = ts.createProgram(files, {
    strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext, lib: ['lib.es2022.d.ts'], types: [], typeRoots: [folder],
  });
  const found = new Map(pairs.map(({ name }) => [name, '']));
  for (const d of ts.getPreEmitDiagnostics(program))
    found.set(basename(d.file.fileName, '.ts'), ts.flattenDiagnosticMessageText(d.messageText, '\n'));
  return found;
}

test('types made of JSON Schema can be assigned to each other', async (t) => {
  const { jsonSchemaToType } = await reference(t);
  const differing = JSON.parse(read('types-differ.json'));
  const folder = scratch(t);
  const own = Object.entries(JSON.parse(read('types.json'))).map(([name, schema]) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(schema));
    return path;
  });
  const files = readdirSync(caseFile('schema')).filter((file) => file.endsWith('.json')).map((file) => caseFile('schema', file));
  const pairs = [...own, ...files].map((path) => {
    const name = basename(path, '.json');
    return {
      name,
      their: typeOf(jsonSchemaToType, JSON.parse(readFileSync(path, 'utf8'))),
      our: execFileSync(DUMP, ['named', 'T', path], { encoding: 'utf8' }),
    };
  });
  assert.ok(pairs.length >= 80);
  const found = unassignable(folder, pairs), wrong = [];
  for (const { name, their, our } of pairs) {
    try {
      compare(name, differing[name], found.get(name) === '', [their, our]);
    } catch (e) {
      wrong.push(`${e.message}\n${found.get(name)}`);
    }
  }
  assert.deepEqual(wrong, []);
  for (const name in differing) assert.ok(found.has(name), `types-differ.json: no schema '${name}'`);
});

test('the description of the tool tells the same rules', async (t) => {
  const { CodemodeRuntime, createCodemodeRuntime } = await reference(t);
  const home = privateHome(t);
  const tools = { word_count: { command: ['wc', '-w'], description: 'Count words.' } };
  const config = home.config({ codemode: { toolsets: { texts: { tools, instructions: 'Works on texts.' } } } });
  const { client } = await mcpClient(t, { ...home, args: ['--config', config] });
  const connectors = [{ name: () => 'texts' }], ctx = { exports: { CodemodeRuntime }, facets: { get: () => ({}) } };
  const their = createCodemodeRuntime({ ctx, executor: {}, connectors, name: 'x' }).tool({ connectorHints: { texts: 'Works on texts.' } });
  const { tools: [our] } = await client.listTools();
  const wrong = [];
  for (const { rule, has, differs } of JSON.parse(read('rules.json'))) {
    const both = [their.description, our.description].map((text) => new RegExp(has, 'i').test(text));
    try {
      assert.ok(both[0], `${rule}: the reference does not say it`);
      compare(rule, differs, both[1], both);
    } catch (e) {
      wrong.push(e.message);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every row of docs/differences.md is shown by a case', () => {
  assert.deepEqual([...listed].filter((id) => !named.has(id)), []);
});
