// Programs: whatever text a model sends, the normaliser (js/service) answers with one function expression or with an error that has
// a place in the text; no text adds a statement outside of the function, nothing of the author's moves to another line, and the
// program as shown is its own normal form.
import assert from 'node:assert/strict';
import vm from 'node:vm';
import { parse } from 'acorn';
import { normalize } from './service.mjs';
import { texts } from './texts.mjs';

const BIND = JSON.stringify({ connectors: [{ name: 'demo', methods: ['echo', 'list'] }, { name: 'any', methods: null }] });
const LINE_END = /\r\n|[\r\n\u2028\u2029]/;
// Generous: a text of a few thousand characters takes a millisecond. What is found is time that grows with a power of the length.
const MOST_MS = 5000;

/** Of the processor: beside other work a text of a few letters may wait for seconds. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

// What stands before the author's text in `run`.
const HEAD = /^\((?:[$\w]+=>)?\(?(?:async \(\) => \{)?/;
// A comment of HTML, which TypeScript does not have: what reads as types only without it (f<T>(x) is two comparisons as well) is
// read anew when it is gone, as it is from what is shown where it stood last.
const HTML_COMMENT = /<!--|-->/;
// The parser takes a slash behind the body of an async function, which nobody divides, for the start of a regular expression.
const DIVIDED = /\basync\s+function\b[^]*\}\s*\//;
// And a slash behind the yield of a generator that is an expression, where a regular expression may begin, for a division.
const YIELDED = /\byield\s*\//;

function errorTeaches(source, json) {
  const { error } = JSON.parse(json);
  assert.ok(error.message.length > 5, `the error says nothing: '${error.message}'`);
  const lines = source.split(LINE_END);
  assert.ok(error.line >= 1 && error.line <= lines.length, `line ${error.line} of ${lines.length}: ${error.message}`);
  const line = lines[error.line - 1];
  assert.ok(error.column >= 1 && error.column <= line.length + 1, `column ${error.column} of ${line.length}: ${error.message}`);
  const shown = error.source.replace(/^…|…$/g, '');
  assert.ok(line.toWellFormed().includes(shown), `'${shown}' is no part of line ${error.line}`);
  assert.ok(error.caret === undefined || (error.caret >= 0 && error.caret <= error.source.length), `caret ${error.caret} is not below the line`);
  assert.ok(json.isWellFormed?.() ?? true);
  assert.equal(error.message, error.message.toWellFormed());
}

/** The author's column of a column in `run`: the arithmetic of js/prelude/position.js. */
function columnOf(rows, line, column) {
  const shift = rows.reduce((sum, [at, after, length]) => (at === line && column > after ? sum + length : sum), 0);
  return column - shift > 0 ? column - shift : 1;
}

/** Whether a token came in by the normaliser: where the map says so, and behind the author's end the call of a function. */
function isInserted(tokens, i, rows, line, column) {
  if (rows.some(([at, after, length]) => at === line && column > after && column <= after + length)) return true;
  const call = tokens.findLastIndex((t) => t.text === 'return');
  return i >= tokens.length - 3 || (call >= 0 && i >= call && tokens.length - call < 20 && tokens[call].loc.start.line > tokens[call - 1].loc.end.line);
}

// What other syntax is made of: there the words are ours.
const REWRITTEN = /\b(?:enum|import|export|namespace|module|public|private|protected|readonly|using|require)\b|[“”‘’]/;

function tokensStay(source, out) {
  const tokens = [], rows = out.map === '' ? [] : JSON.parse(out.map), lines = source.split(LINE_END);
  parse(out.run, { ecmaVersion: 'latest', sourceType: 'script', locations: true, onToken: tokens });
  for (const t of tokens) t.text = out.run.slice(t.start, t.end);
  tokens.forEach((t, i) => {
    const line = t.loc.start.line - 1 + out.line, there = t.loc.start.column + 1, column = columnOf(rows, line, there);
    const [first] = t.text.split(LINE_END);
    // Where types were taken away, or quotes put right, the rest has the place of what follows; names have their own.
    if (rows.some((row) => row[2] < 0) && !/^[A-Za-z_$][\w$]*$/.test(first)) return;
    if (first === '' || t.end <= HEAD.exec(out.run)[0].length || isInserted(tokens, i, rows, line, there) || REWRITTEN.test(source)) return;
    assert.ok(lines[line - 1]?.slice(column - 1).startsWith(first), `'${first}' is not at ${line}:${column} of the author's text`);
  });
}

/** What Node says of a text; undefined: nothing. */
function refusal(text) {
  try {
    new vm.Script(text);
  } catch (e) {
    return e.message;
  }
}

/** The programs that may be meant, in the author's own words: all of it, without the first line of a script, and what stands in fences. */
const meant = (source) => [source, source.replace(/^\s*#![^\r\n\u2028\u2029]*/, ''), ...[...source.matchAll(/(?:`{3,}|~{3,})[^\r\n]*[\r\n]+([^]*?)(?:`{3,}|~{3,}|$)/g)].map((m) => m[1])]
  .map((text) => `async () => {${text}\n}`);

/** Whether the parser takes for a program what Node refuses, as `const v`, a line break, `of`: that is the engine's to tell. */
const isTakenByTheParserAlone = (source) => meant(source).some((text) => {
  try {
    parse(text, { ecmaVersion: 'latest', sourceType: 'script' });
  } catch {
    return false;
  }
  return refusal(text) !== undefined;
});

function isOneFunction(run, source) {
  const { body } = parse(run, { ecmaVersion: 'latest', sourceType: 'script' });
  assert.equal(body.length, 1, `${body.length} statements run`);
  assert.equal(body[0].type, 'ExpressionStatement');
  assert.match(body[0].expression.type, /^(?:Arrow)?FunctionExpression$/);
  const said = refusal(run);
  // The parser knows regular expressions that this release of Node does not, and takes names that Node refuses: `class arguments {}`,
  // or one more of the name of a function behind a label. What is refused in the author's own words is the engine's to tell.
  if (said !== undefined && !/^Invalid regular expression/.test(said) && !meant(source).some((text) => refusal(text) === said)) assert.fail(said);
}

export function check(source) {
  for (const input of [false, true]) {
    const begin = cpuMs(), out = normalize(source, input, BIND), took = cpuMs() - begin;
    assert.ok(took < MOST_MS, `took ${Math.round(took)} ms`);
    if (out.error !== undefined) {
      errorTeaches(source, out.error);
      continue;
    }
    if (isTakenByTheParserAlone(source) || DIVIDED.test(out.run) || YIELDED.test(out.run)) continue;
    isOneFunction(out.run, source);
    if (out.map !== '') tokensStay(source, out);
    if (out.warnings) assert.ok(JSON.parse(out.warnings).every((w) => typeof w === 'string' && w.length > 5));
    if (/^[ \t]*(?:```|~~~)/m.test(out.text)) continue; // a text in it reads as a fence
    const again = normalize(out.text, input, BIND);
    assert.equal(again.error, undefined, `what is shown does not parse: ${again.error}`);
    if (!HTML_COMMENT.test(source)) assert.equal(again.text, out.text, 'what is shown is not its own normal form');
  }
}

export const inputs = (choose) => texts(choose);
