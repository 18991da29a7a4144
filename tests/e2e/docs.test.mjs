// The examples in the documents are true: every block fenced as ```console in a Markdown file is run, in the order of the
// document, in one scratch folder for each document.
//
//     ```console
//     $ codemode run -e 'return 1 + 1'
//     2
//     $ codemode run -e 'throw new Error("no")'
//     …
//     [exit 1]
//     ```
//
// `$ ` starts a command and `> ` continues it; what follows is its output, standard output and error together. `…` or `...`
// alone on a line stands for any number of lines, `…` inside a line for any text. `[exit N]` at the end is the exit status
// when it is not 0. After the fence, `console in=examples/petstore` first copies that folder into the scratch folder. The
// commands find codemode and the npm packages in PATH, and a HOME of their own.
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { CODEMODE, privateHome, ROOT, run } from './lib.mjs';

function markdownFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((e) => {
    if (e.isDirectory()) return /^(node_modules|build.*|\..*)$/.test(e.name) ? [] : markdownFiles(join(folder, e.name));
    return e.name.endsWith('.md') ? [join(folder, e.name)] : [];
  });
}

/** [{line, folder, steps: [{command, expected: [line…], status}]}] */
export function parseBlocks(text) {
  const blocks = [];
  let block = null;
  text.split('\n').forEach((line, i) => {
    const open = /^```console\b(.*)$/.exec(line);
    if (!block && open) block = { line: i + 1, folder: /\bin=(\S+)/.exec(open[1])?.[1], steps: [] };
    else if (block && line.startsWith('```')) {
      blocks.push(block);
      block = null;
    } else if (block) readLine(block, line, i + 1);
  });
  return blocks;
}

function readLine(block, line, number) {
  const step = block.steps.at(-1);
  const exit = /^\[exit (\d+)\]$/.exec(line);
  if (line.startsWith('$ ')) block.steps.push({ command: line.slice(2), expected: [], status: 0 });
  else if (!step) throw new Error(`line ${number}: output before the first '$ command' of the block`);
  else if (line.startsWith('> ') && step.expected.length === 0) step.command += `\n${line.slice(2)}`;
  else if (exit) step.status = Number(exit[1]);
  else step.expected.push(line);
}

export function matches(expected, actual) {
  const pattern = expected.map((line) => {
    if (/^(…|\.\.\.)$/.test(line)) return '(?:.*\\n)*?';
    return `${line.split('…').map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}\\n`;
  });
  return new RegExp(`^${pattern.join('')}$`).test(actual === '' || actual.endsWith('\n') ? actual : `${actual}\n`);
}

test('an ellipsis in an example stands for any text, and nothing else does', () => {
  assert.ok(matches(['a…c', '…', 'end'], 'abc\n1\n2\nend\n'));
  assert.ok(matches([], ''));
  assert.ok(!matches(['a'], 'a\nb\n'));
  assert.ok(!matches(['a.c'], 'abc\n'));
});

for (const path of markdownFiles(ROOT)) {
  const blocks = parseBlocks(readFileSync(path, 'utf8'));
  if (blocks.length === 0) continue;
  const name = relative(ROOT, path);
  test(`the examples in ${name} do what they show`, async (t) => {
    const home = privateHome(t);
    const PATH = [dirname(CODEMODE), join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter);
    for (const block of blocks) {
      await t.test(`${name}:${block.line}`, async () => {
        if (block.folder) cpSync(join(ROOT, block.folder), home.cwd, { recursive: true });
        for (const { command, expected, status } of block.steps) {
          const r = await run(['-c', `exec 2>&1\n${command}`], { program: 'sh', cwd: home.cwd, env: { ...home.env, PATH } });
          assert.equal(r.status, status, `$ ${command}\n${r.stdout}`);
          assert.ok(matches(expected, r.stdout), `$ ${command}\nexpected:\n${expected.join('\n')}\ngot:\n${r.stdout}`);
        }
      });
    }
  });
}
