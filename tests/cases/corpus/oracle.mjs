// Runs the programs that complete in Node, with the same services as plain functions, and compares what they return with what is
// expected of codemode. TypeScript goes through its own compiler. Rows that say `oracle no: WHY` are left out.
//   node tests/cases/corpus/oracle.mjs [FOLDER]
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';
import { readCases } from './read.mjs';
import { plainWorld } from './world.mjs';

// What older releases of Node lack: a program that uses it is not asked of them.
const NEWER = [
  [/\.(?:toSorted|toReversed|toSpliced|with)\(/, Array.prototype.toSorted], [/\b(?:Object|Map)\.groupBy\(/, Object.groupBy],
  [/\.(?:union|intersection|difference|isSubsetOf)\(/, Set.prototype.union], [/\bnaturals\(\)\./, globalThis.Iterator?.prototype?.take],
  [/\bArray\.fromAsync\(/, Array.fromAsync], [/\bPromise\.withResolvers\(/, Promise.withResolvers],
  [/\b(?:toBase64|fromBase64|toHex)\(/, Uint8Array.fromBase64], [/\bcrypto\./, globalThis.crypto], [/\bCustomEvent\b/, globalThis.CustomEvent],
  [/\bAbortSignal\.any\(/, AbortSignal.any], [/\bURL\.canParse\(/, URL.canParse],
];

const AsyncFunction = (async () => {}).constructor;

/** The program as the body of an async function: its last expression is returned, a lone arrow function is called. */
function body({ program, input }) {
  const options = { compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleDetection: ts.ModuleDetectionKind.Force, removeComments: false } };
  const text = ts.transpileModule(program, options).outputText.replace(/^("use strict"|export \{\});\n|export \{\};\n?$/g, ''); // which it adds
  const { statements } = ts.createSourceFile('program.js', text, ts.ScriptTarget.ESNext, true);
  const last = statements.filter((s) => !ts.isEmptyStatement(s)).at(-1);
  if (!last || !ts.isExpressionStatement(last))
    return text;
  let inner = last.expression;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  const called = statements.length === 1 && ts.isArrowFunction(inner) ? (input ? '(input)' : '()') : '';
  return `${text.slice(0, last.getStart())}return (${last.expression.getText()})${called}`;
}

/** Values as readers see them in an outcome. */
function shown(value) {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((v) => shown(v) ?? null);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return { $map: [...value].map(([k, v]) => [shown(k), shown(v)]) };
  if (value instanceof Set) return { $set: [...value].map(shown) };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => [k.startsWith('$') ? '$' + k : k, shown(v)]));
}

async function differs(row) {
  const world = plainWorld(), quiet = Object.fromEntries(Object.keys(console).map((name) => [name, () => {}]));
  const codemode = { step: async (name, fn) => fn() };
  const parameters = { ...world, console: quiet, codemode, ...(row.input && { input: JSON.parse(row.input) }) };
  const expected = 'text' in row ? row.text : 'result' in row ? JSON.parse(row.result) : undefined;
  const actual = shown(await new AsyncFunction(...Object.keys(parameters), body(row))(...Object.values(parameters)));
  return isDeepStrictEqual(actual, expected) ? null : `expected ${JSON.stringify(expected)}, Node says ${JSON.stringify(actual)}`;
}

// Some programs are about what nobody catches.
process.on('unhandledRejection', () => {}).on('uncaughtException', () => {});
const rows = readCases(process.argv[2] ?? dirname(fileURLToPath(import.meta.url)));
const isNewer = ({ program }) => NEWER.some(([uses, present]) => !present && uses.test(program));
const asked = rows.filter((row) => !row.oracle && !row.failed && !row.status && !row.limits && !isNewer(row));
let wrong = 0;
for (const row of asked) {
  const why = await differs(row).catch((e) => `Node throws ${e.stack.split('\n').slice(0, 2).join(' ')}`);
  if (why === null) continue;
  wrong++;
  console.log(`${row.file}: ${row.title}: ${why}`);
}
console.log(`${asked.length} of ${rows.length} programs asked, ${wrong} differ`);
process.exitCode = wrong ? 1 : 0;
