// Files and functions stay short enough to read: a note above 600 and 100 lines, a finding above 700 and 120. What is
// long for a reason stands in tools/checks/long.txt: `path[:function] reason`.
import { codeOnly, files, finding, finish, note, read, readLines, sources } from './tree.mjs';

const FILE = { note: 600, most: 700 };
const FUNCTION = { note: 100, most: 120 };
const LIST = 'tools/checks/long.txt';

const listed = new Map();
readLines(LIST).forEach((line, i) => {
  if (!line.trim() || line.startsWith('#')) return;
  const m = /^(\S+)\s+(\S.*)$/.exec(line);
  if (m) listed.set(m[1], { line: i + 1, used: false });
  else finding(LIST, i + 1, `expected 'path[:function] reason', got '${line}'`);
});

function judge(key, path, line, lines, limit, what) {
  if (lines <= limit.note) return;
  const allowed = listed.get(key);
  if (allowed) allowed.used = true;
  else if (lines > limit.most) finding(path, line, `${what} has ${lines} lines, at most ${limit.most}; cut it, or list it in ${LIST} with the reason`);
  else note(`${path}${line ? `:${line}` : ''}: ${what} has ${lines} lines, more than ${limit.note}`);
}

/** Functions of a C file: a body opens with `{` in column 0 and closes with `}` in column 0, as clang-format lays it. */
function* functions(text) {
  const lines = codeOnly(text).split('\n');
  for (let i = 0; i < lines.length; i++) {
    if (lines[i] !== '{') continue;
    const open = i;
    while (i < lines.length && lines[i] !== '}') i++;
    let head = '';
    for (let j = open - 1; j >= 0 && lines[j].trim() && !/[;}]\s*$/.test(lines[j]); j--) head = `${lines[j]} ${head}`;
    const name = /([A-Za-z_]\w*)\s*\(/.exec(head);
    if (name) yield { name: name[1], line: open + 1, lines: i - open + 1 };
  }
}

const long = files.filter((p) => /\.(c|h|mjs|js|ts)$/.test(p) && !/^(js\/dist|tests\/cases)\//.test(p));
for (const path of long) judge(path, path, 0, read(path).split('\n').length - 1, FILE, 'the file');
for (const path of sources('src|include|tests|bench|examples', '[ch]')) {
  for (const f of functions(read(path))) judge(`${path}:${f.name}`, path, f.line, f.lines, FUNCTION, `${f.name}()`);
}
for (const [key, { line, used }] of listed) if (!used) finding(LIST, line, `${key} is short now; remove the row`);
finish();
