// What becomes of types, beside what the TypeScript compiler makes of the same text: over the cases, by what they give when they run;
// over the sources of packages that are here anyway, token by token.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import vm from 'node:vm';
import { tokenizer, parse } from 'acorn';
import { build } from 'esbuild';
import ts from 'typescript';
import { ROOT, caseFile } from './lib.mjs';

const SOURCES = ['ajv/lib', 'eventsource-parser/src', '@jridgewell/trace-mapping/src', '@jridgewell/gen-mapping/src', '@noble/hashes/src', 'zod/src/v4/core'];

// What is made differently on purpose: members of enums are constants too, fields of parameters are not declared.
const OTHERWISE = /\benum\s+\w+\s*\{|^\s*export namespace\b|constructor\s*\([^)]*\b(?:public|private|protected|readonly)\b/m;

/** The service realm's scripts in a context of their own, as the engine has them. */
async function service() {
  const context = vm.createContext({});
  for (const entry of ['main.js', 'typescript.js']) {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, 'js/service', entry)], bundle: true, write: false, format: 'iife', logLevel: 'error',
    });
    vm.runInContext(outputFiles[0].text, context);
  }
  return context;
}

let realm;
before(async () => {
  realm = await service();
});

const compiled = (text) => ts.transpileModule(text, {
  compilerOptions: { target: 'ESNext', module: 'ESNext', useDefineForClassFields: true },
}).outputText;

const options = { ecmaVersion: 'latest', sourceType: 'script', allowImportExportEverywhere: true, allowAwaitOutsideFunction: true };

/** Tokens that mean something, of statements that are no mere import or export list. */
function tokens(text) {
  const skipped = parse(text, options).body.filter((n) => n.type === 'ImportDeclaration' || n.type === 'ExportAllDeclaration'
    || (n.type === 'ExportNamedDeclaration' && n.declaration === null));
  const found = [];
  for (const token of tokenizer(text, options)) {
    if (skipped.some((n) => token.start >= n.start && token.start < n.end))
      continue;
    const { label } = token.type, plain = ['template', 'string', 'num', 'bigint'].includes(label);
    const shown = plain ? JSON.stringify(String(token.value)) : text.slice(token.start, token.end);
    if (!/^[;(),]$/.test(shown))
      found.push({ shown, start: token.start, name: label === 'name' });
  }
  return found;
}

/** The compiler marks a module as strict; what a file says itself is the same. */
const shown = (text) => tokens(text).map((t) => t.shown).join(' ').replace(/^"use strict" /, '');

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      yield* sources(path);
    else if (/(?<!\.d)\.ts$/.test(entry.name))
      yield path;
  }
}

const files = SOURCES.flatMap((folder) => [...sources(join(ROOT, 'node_modules', folder))]);

/** Where an offset of the text after stands in the text before, by the rows that the normaliser hands on. */
function textBefore(after, rows, lines, start) {
  const head = after.slice(0, start).split('\n'), line = head.length, column = head.at(-1).length;
  const shift = rows.reduce((sum, row) => (row[0] === line && column >= row[1] ? sum + row[2] : sum), 0);
  return lines[line - 1].slice(column - shift);
}

test('sources of packages lose their types and nothing else', () => {
  let n = 0;
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    if (OTHERWISE.test(text))
      continue;
    const ours = realm.stripTypes(text).text;
    assert.equal(ours.split('\n').length, text.split('\n').length, `${file}: lines moved`);
    assert.equal(shown(ours), shown(compiled(text)), file);
    n++;
  }
  assert.ok(n > 120, `${n} files`);
});

test('every name that is left is found at its place in the text with types', () => {
  let n = 0;
  for (const file of files.slice(0, 60)) {
    const text = readFileSync(file, 'utf8');
    if (OTHERWISE.test(text))
      continue;
    const { text: ours, rows } = realm.stripTypes(text), lines = text.split('\n');
    for (const { shown, start, name } of tokens(ours)) {
      if (!name)
        continue;
      const there = textBefore(ours, rows, lines, start);
      assert.ok(there.startsWith(shown), `${file}: ${shown} is found at "${there.slice(0, 20)}"`);
      n++;
    }
  }
  assert.ok(n > 5000, `${n} names`);
});

/** The cases: {name, program, result}. */
const cases = readFileSync(caseFile('normalize', 'typescript.txt'), 'utf8').split(/^=== /m).slice(1).map((part) => {
  const lines = part.split('\n'), key = lines.findIndex((line) => line.startsWith('--- '));
  const result = lines.find((line) => line.startsWith('--- result'));
  return { name: lines[0], program: lines.slice(1, key).join('\n'), result: result?.slice('--- result '.length) };
}).filter((c) => c.result !== undefined && !c.program.startsWith('```'));

async function valueOf(program) {
  const { text, error } = realm.normalize(program, false, '{"connectors":[]}');
  assert.equal(error, undefined, program);
  const run = vm.runInNewContext(`(${text.replace(/;\s*$/, '')}\n)`, { demo: { echo: async (v) => v } });
  return JSON.stringify(await run());
}

test('the cases give what they give through the compiler', async () => {
  assert.ok(cases.length > 15);
  for (const { name, program, result } of cases) {
    assert.equal(await valueOf(program), result, name);
    if (!/=> await/.test(program)) // which the compiler leaves as it is
      assert.equal(await valueOf(compiled(program)), result, `${name}, compiled`);
  }
});
