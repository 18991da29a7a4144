// The console beside Node's util.format, expression by expression; the cases are data in tests/cases/console.
import { readFileSync } from 'node:fs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { inspect, format } from 'node:util';
import vm from 'node:vm';
import { caseFile, privateHome, run } from './lib.mjs';

const DEPTH = 8; // js/prelude/format.js
const NODE = Number(process.versions.node.split('.')[0]);

/** [{args, mode: '', '~' or '!', want?}] of the case file. */
function readCases() {
  const cases = [];
  for (const line of readFileSync(caseFile('console', 'expressions.txt'), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('= ')) cases.at(-1).want = line.slice(2).replaceAll('⏎', '\n');
    else if (line.startsWith('+ ')) {
      if (NODE >= 20) cases.push({ args: line.slice(2), mode: '' });
    } else if (/^[~!] /.test(line)) cases.push({ args: line.slice(2), mode: line[0] });
    else cases.push({ args: line, mode: '' });
  }
  return cases;
}

/** A stack's lines are the engine's own; that there is one is what counts. */
const withoutStacks = (text) => text.replace(/\n +\.\.\. \d+ lines matching[^\n]*/g, '').replace(/(\n +at [^\n]*?)+(?= \{$| \{\n|\n|$)/g, '\nSTACK');

const collapsed = (text) => text.replace(/\s+/g, ' ');

function nodeSays(args) {
  inspect.defaultOptions.depth = DEPTH;
  return format(...vm.runInThisContext(`[${args}]`));
}

async function consoleSays(t, cases) {
  const code = cases.map(({ args }) => `console.log(${args});`).join('\n');
  const { json, stdout } = await run(['run', '--json', '-'], { ...privateHome(t), stdin: code });
  assert.equal(json.status, 'completed', stdout);
  return json.logs;
}

test('the console shows what Node shows, but for what is another on purpose', async (t) => {
  const cases = readCases();
  assert.ok(cases.length >= 150, `${cases.length} cases`);
  const wrong = [];
  for (let from = 0; from < cases.length; from += 40) {
    const some = cases.slice(from, from + 40);
    const said = await consoleSays(t, some);
    assert.equal(said.length, some.length);
    some.forEach((c, i) => {
      const ours = withoutStacks(said[i]), theirs = withoutStacks(nodeSays(c.args));
      const same = c.mode === '~' ? collapsed(ours) === collapsed(theirs) : c.mode === '!' ? ours === c.want && ours !== theirs : ours === theirs;
      if (!same) wrong.push(`console.log(${c.args})\n  shows   ${JSON.stringify(ours)}\n  ${c.mode === '!' ? 'wanted ' : 'Node    '} ${JSON.stringify(c.want ?? theirs)}`);
    });
  }
  assert.equal(wrong.length, 0, `${wrong.length} of ${cases.length} differ:\n${wrong.join('\n')}`);
});
