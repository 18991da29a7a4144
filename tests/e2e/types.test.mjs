// What the schema layer generates, under the real TypeScript compiler, strict. Each case is NAME.json with its expected text NAME.ts
// beside it; NAME.use.ts, where there is one, is code that must compile with it (and lines under @ts-expect-error that must not).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import ts from 'typescript';
import { BUILD, ROOT, caseFile, scratch } from './lib.mjs';

const DUMP = join(BUILD, 'tests/unit/schema_dump');
const dump = (kind, name, file) => execFileSync(DUMP, [kind, name, file], { encoding: 'utf8', maxBuffer: 1 << 28 });

const cases = ['', 'connector'].flatMap((folder) =>
  readdirSync(caseFile('schema', folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ kind: folder || 'named', name: join(folder, file.slice(0, -5)), file: caseFile('schema', folder, file) })));

/** Compile the files under the strictest settings; returns messages "file:line: text". */
function compile(folder, files) {
  const program = ts.createProgram(files, {
    strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true,
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleDetection: ts.ModuleDetectionKind.Legacy,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: [], typeRoots: [folder],
  });
  return ts.getPreEmitDiagnostics(program).map((d) => {
    const line = d.file ? d.file.getLineAndCharacterOfPosition(d.start).line + 1 : 0;
    return `${d.file?.fileName.slice(folder.length + 1)}:${line}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
  });
}

test('every case is what its file expects', () => {
  for (const { kind, name, file } of cases) {
    const text = dump(kind, kind === 'named' ? 't' : 'api', file);
    assert.equal(text, readFileSync(file.replace(/json$/, 'ts'), 'utf8'), name);
  }
});

test('every case compiles as a module, with the code that uses it', (t) => {
  const folder = scratch(t);
  const files = cases.map(({ kind, name, file }) => {
    const use = file.replace(/json$/, 'use.ts');
    const path = join(folder, `${name.replace('/', '-')}.ts`);
    const text = dump(kind, kind === 'named' ? 't' : 'api', file);
    writeFileSync(path, `${text}${existsSync(use) ? readFileSync(use, 'utf8') : ''}export {};\n`);
    return path;
  });
  assert.ok(files.length >= 50);
  assert.deepEqual(compile(folder, files), []);
});

test('names that the library of TypeScript declares are not declared again in a script', (t) => {
  const folder = scratch(t);
  const path = join(folder, 'names.ts');
  writeFileSync(path, dump('named', 't', caseFile('schema/library-names.json')));
  assert.deepEqual(compile(folder, [path]), []);
});

test('the compiler used here does find a wrong type', (t) => {
  const folder = scratch(t);
  const path = join(folder, 'wrong.ts');
  writeFileSync(path, 'type t = t | string;\nexport const x: t = 1;\n');
  assert.equal(compile(folder, [path]).length > 0, true);
});

// Schemas no one would write: every keyword anywhere, with the wrong kind of value now and then, and references into everything.
function randomSchemas(count) {
  let state = 12345;
  const below = (n) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0), (state >>> 8) % n);
  const pick = (list) => list[below(list.length)];
  const word = () => pick(['a', 'b', 'type', 'items', '$ref', 'x-y', '', '*/', '\u2028', '__proto__', 'Error', 'string', 'q"', '1', 'key']);
  const literal = () => pick([null, true, 1, -1.5, 1e300, 'x', '*/ "', '\u2029\n', [], [1, ['y']], {}, { k: { '*/': null } }]);
  const ref = () => pick(['#', '#/$defs/A', '#/$defs/B', '#/$defs/C~1c', '#/$defs/Error', '#/properties/a', '#/nowhere', 'http://x.invalid/#/y']);
  const list = (make, most) => Array.from({ length: below(most + 1) }, make);
  const named = (make) => Object.fromEntries(list(() => [word(), make()], 4));
  const keywords = {
    type: () => pick(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array', ['object', 'null'], ['array', 'string'], [], 'strng', 7]),
    properties: (d) => named(() => schema(d)), required: () => list(word, 3), additionalProperties: (d) => pick([true, false, schema(d)]),
    patternProperties: (d) => named(() => schema(d)), items: (d) => pick([schema(d), list(() => schema(d), 2), true, false]),
    prefixItems: (d) => list(() => schema(d), 3), additionalItems: (d) => schema(d), minItems: () => below(3),
    anyOf: (d) => list(() => schema(d), 3), oneOf: (d) => list(() => schema(d), 3), allOf: (d) => list(() => schema(d), 3),
    enum: () => list(literal, 4), const: literal, $ref: ref, nullable: () => pick([true, true, false, 'yes']),
    description: () => pick(['', 'text', '*/ type x = 1; /*', 'a\u2028b', '*\u0000/', '// @ts-nocheck', '\n\n']),
    format: () => pick(['uri', '*/']), default: literal, deprecated: () => true, unevaluatedProperties: (d) => schema(d),
  };
  function schema(depth) {
    if (depth > 6 || below(16) === 0) return pick([true, false, {}, null, 'junk', { type: 'string' }]);
    const out = {};
    for (let n = 2 + below(4); n > 0; n--) {
      const key = pick(Object.keys(keywords));
      out[key] = keywords[key](depth + 1);
    }
    return out;
  }
  const object = (d) => ({ ...schema(d), type: 'object', properties: { a: schema(d), b: { $ref: ref() }, ...named(() => schema(d)) } });
  return Array.from({ length: count }, () => ({
    ...object(0), $defs: { A: object(1), B: pick([object, schema])(1), 'C/c': { anyOf: [schema(1), { $ref: ref() }] }, Error: schema(0) },
  }));
}

test('schemas made at random compile', (t) => {
  const folder = scratch(t);
  const files = randomSchemas(150).map((schema, i) => {
    const input = join(folder, `${i}.json`);
    const path = join(folder, `random-${i}.ts`);
    writeFileSync(input, JSON.stringify(schema));
    writeFileSync(path, `${dump('named', 't', input)}export {};\n`);
    return path;
  });
  assert.deepEqual(compile(folder, files).slice(0, 10), []);
});

test("every schema of GitHub's description compiles, in a script", (t) => {
  const folder = scratch(t);
  const spec = JSON.parse(readFileSync(join(ROOT, 'node_modules/@octokit/openapi/generated/api.github.com.json'), 'utf8'));
  const methods = Object.keys(spec.components.schemas).map((name) => ({
    name: `get_${name.replaceAll(/[^a-z0-9]/gi, '_')}`,
    description: spec.components.schemas[name].description,
    inputSchema: { type: 'object', properties: { value: { type: 'string' } } },
    outputSchema: { $at: `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` },
  }));
  const input = join(folder, 'github.json');
  const path = join(folder, 'github.ts');
  writeFileSync(input, JSON.stringify({ components: spec.components, methods }));
  writeFileSync(path, dump('connector', 'github', input));
  assert.ok(methods.length > 500);
  assert.deepEqual(compile(folder, [path]).slice(0, 20), []);
});
