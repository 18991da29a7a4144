// Includes follow src/LAYERS. A row `folder: a b @x.h` says: the files of src/folder may include "a/…", "b/…" and their
// own headers, and this folder owns the foreign header x.h (`@curl` owns <curl/…> and <curl.h>), which no other folder
// may include.
import { finding, finish, readLines, read, codeOnly, sources, files } from './tree.mjs';

const LAYERS = 'src/LAYERS';
const may = new Map();
const owners = new Map();

readLines(LAYERS).forEach((line, i) => {
  const text = line.replace(/#.*/, '').trim();
  if (!text) return;
  const m = /^([a-z0-9_]+):\s*(.*)$/.exec(text);
  if (!m) return finding(LAYERS, i + 1, `expected 'folder: folder… @foreign-header…', got '${text}'`);
  const words = m[2].split(/\s+/).filter(Boolean);
  may.set(m[1], new Set(words.filter((w) => !w.startsWith('@'))));
  for (const w of words.filter((x) => x.startsWith('@'))) owners.set(w.slice(1), [...(owners.get(w.slice(1)) ?? []), m[1]]);
});

for (const [folder, others] of may) {
  for (const other of others) if (!may.has(other)) finding(LAYERS, 0, `${folder} may include '${other}', which has no row`);
}
for (const folder of new Set(files.filter((p) => /^src\/[^/]+\//.test(p)).map((p) => p.split('/')[1]))) {
  if (!may.has(folder)) finding(LAYERS, 0, `src/${folder} has no row; add one that says what it may include`);
}

/** The owned name that an include belongs to: its first folder, or itself. */
function ownedName(header) {
  return [header, header.split('/')[0], header.replace(/\.h$/, '')].find((name) => owners.has(name));
}

function checkInclude(path, line, folder, header, local) {
  const foreign = ownedName(header);
  if (foreign && foreign !== 'codemode.h') {
    if (!owners.get(foreign).includes(folder)) {
      finding(path, line, `<${header}> belongs to ${owners.get(foreign).join(', ')}; include what ${owners.get(foreign)[0]} offers instead`);
    }
    return;
  }
  if (!local) return;
  const [target, rest] = header.includes('/') ? header.split('/') : [folder, header];
  if (rest && target !== folder && may.has(target) && !may.get(folder).has(target)) {
    finding(path, line, `${folder} may not include "${header}"; it may include ${[...may.get(folder)].join(', ') || 'nothing'}`);
  }
}

for (const path of sources('src', '[ch]')) {
  const folder = path.split('/')[1];
  if (!may.has(folder)) continue;
  const text = read(path);
  const code = codeOnly(text.replace(/#\s*include\s*"([^"]*)"/g, '#include <$1>!'));
  code.split('\n').forEach((line, i) => {
    const m = /^\s*#\s*include\s*<([^>]+)>(!?)/.exec(line);
    if (m) checkInclude(path, i + 1, folder, m[1], m[2] === '!');
  });
}
finish();
