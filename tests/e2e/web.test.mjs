// The web interfaces beside those of Node: tests/cases/web, whose README says how a snippet is written.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { caseFile, privateHome, run } from './lib.mjs';

const MAJOR = Number(process.versions.node.split('.')[0]);

function read(path) {
  return readFileSync(path, 'utf8').split(/^=== /m).slice(1).map((text) => {
    const [name, ...lines] = text.trimEnd().split('\n');
    const row = { name, code: lines.filter((line) => !line.startsWith('--- ')).join('\n') };
    for (const line of lines.filter((each) => each.startsWith('--- '))) {
      const [, key, value] = /^--- (expect|since) (.+)$/.exec(line) ?? assert.fail(`${path}: ${line}`);
      row[key] = key === 'since' ? Number(value) : value;
    }
    assert.ok(row.since === undefined || row.expect !== undefined, `${name}: what older versions of Node lack needs an expectation`);
    return row;
  });
}

// One program for a whole file: the value of each snippet as JSON, in order.
const program = (rows) => `const out = [];
const note = async (fn) => {
  try {
    const value = JSON.stringify(await fn());
    out.push(value === undefined ? 'undefined' : value);
  } catch (e) {
    out.push(JSON.stringify({ error: e.name }));
  }
};
${rows.map((row) => `await note(async () => {\n${row.code}\n});`).join('\n')}
return out;`;

const { AsyncFunction } = { AsyncFunction: (async () => {}).constructor };

for (const file of readdirSync(caseFile('web')).filter((name) => name.endsWith('.txt'))) {
  test(`${file}: the sandbox does as Node does`, async (t) => {
    const rows = read(caseFile('web', file));
    const { json, stderr } = await run(['run', '--json', '-'], { ...privateHome(t), stdin: program(rows) });
    assert.equal(json?.status, 'completed', json?.error?.message ?? stderr);
    // Timers of signals do not keep Node alive; ours do.
    const awake = setInterval(() => {}, 1000);
    t.after(() => clearInterval(awake));
    const node = await new AsyncFunction(program(rows.map((row) => (row.expect === undefined || MAJOR >= row.since ? row : { code: '' }))))();
    const wrong = [];
    rows.forEach((row, i) => {
      const [ours, theirs] = [json.result[i], node[i]];
      if (row.expect !== undefined && ours !== row.expect)
        wrong.push(`${row.name}\n  is       ${ours}\n  expected ${row.expect}`);
      if ((row.expect === undefined || MAJOR >= row.since) && ours !== theirs)
        wrong.push(`${row.name}\n  is   ${ours}\n  Node ${theirs}`);
    });
    assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
  });
}
