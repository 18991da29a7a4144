// Programs: whatever text a model sends, the normaliser (js/service) answers with one function expression or with an error that has
// a place in the text; no text adds a statement outside of the function, nothing of the author's moves to another line, and the
// program as shown is its own normal form.
import assert from 'node:assert/strict';
import vm from 'node:vm';
import { parse } from 'acorn';
import { normalize } from '../../js/service/normalize.js';
import { texts } from './texts.mjs';

const BIND = JSON.stringify({ connectors: [{ name: 'demo', methods: ['echo', 'list'] }, { name: 'any', methods: null }] });
const LINE_END = /\r\n|[\r\n\u2028\u2029]/;
// Generous: a text of a few thousand characters takes a millisecond. What is found is time that grows with a power of the length.
const MOST_MS = 5000;

const INSERTED = new Set(['(', ')', '{', '}', 'async', '=>', 'return', ';', 'input']);

function errorTeaches(source, json) {
  const { error } = JSON.parse(json);
  assert.ok(error.message.length > 5, `the error says nothing: '${error.message}'`);
  const lines = source.split(LINE_END);
  assert.ok(error.line >= 1 && error.line <= lines.length, `line ${error.line} of ${lines.length}: ${error.message}`);
  const line = lines[error.line - 1];
  assert.ok(error.column >= 1 && error.column <= line.length + 1, `column ${error.column} of ${line.length}: ${error.message}`);
  if (error.source.length < 200) assert.ok(line.includes(error.source), `'${error.source}' is no part of line ${error.line}`);
}

/** The author's column of a column in `run`: the arithmetic of js/prelude/position.js. */
function columnOf(rows, line, column) {
  const shift = rows.reduce((sum, [at, after, length]) => (at === line && column > after ? sum + length : sum), 0);
  return column - shift > 0 ? column - shift : 1;
}

/** Whether a token came in by the normaliser: brackets and words of the wrapper, and the name of a function that it calls. */
function isInserted(tokens, i) {
  const { text } = tokens[i];
  return INSERTED.has(text) || (tokens.length - i < 9 && tokens[i - 1]?.text === 'return' && tokens[i + 1]?.text === '(');
}

// What other syntax is made of: there the words are ours.
const REWRITTEN = /\b(?:enum|import|export|namespace|module|public|private|protected|readonly|using)\b/;

function tokensStay(source, out) {
  const tokens = [], rows = out.map === '' ? [] : JSON.parse(out.map), lines = source.split(LINE_END);
  parse(out.run, { ecmaVersion: 'latest', sourceType: 'script', locations: true, onToken: tokens });
  for (const t of tokens) t.text = out.run.slice(t.start, t.end);
  tokens.forEach((t, i) => {
    const line = t.loc.start.line - 1 + out.line, column = columnOf(rows, line, t.loc.start.column + 1);
    const [first] = t.text.split(LINE_END);
    if (first === '' || isInserted(tokens, i) || REWRITTEN.test(source)) return;
    assert.ok(lines[line - 1]?.slice(column - 1).startsWith(first), `'${first}' is not at ${line}:${column} of the author's text`);
  });
}

function isOneFunction(run) {
  const { body } = parse(run, { ecmaVersion: 'latest', sourceType: 'script' });
  assert.equal(body.length, 1, `${body.length} statements run`);
  assert.equal(body[0].type, 'ExpressionStatement');
  assert.match(body[0].expression.type, /^(?:Arrow)?FunctionExpression$/);
  new vm.Script(run);
}

export function check(source) {
  for (const input of [false, true]) {
    const begin = performance.now(), out = normalize(source, input, BIND);
    assert.ok(performance.now() - begin < MOST_MS, `took ${Math.round(performance.now() - begin)} ms`);
    if (out.error !== undefined) {
      errorTeaches(source, out.error);
      continue;
    }
    isOneFunction(out.run);
    tokensStay(source, out);
    if (out.warnings !== undefined) assert.ok(JSON.parse(out.warnings).every((w) => typeof w === 'string' && w.length > 5));
    const again = normalize(out.text, input, BIND);
    assert.equal(again.error, undefined, `what is shown does not parse: ${again.error}`);
    assert.equal(again.text, out.text, 'what is shown is not its own normal form');
  }
}

export const inputs = (choose) => texts(choose);
