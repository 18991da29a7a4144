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
