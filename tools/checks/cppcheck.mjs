// cppcheck over the product's sources; of tests it cannot see that an assertion does not return. A suppression stands in the code, with its reason: `// cppcheck-suppress ID // reason`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, finding, finish, readLines, run, sources } from './tree.mjs';

const cache = join(build, 'cppcheck'); // results of files that did not change
mkdirSync(cache, { recursive: true });

const args = [
  '--enable=warning,portability,performance',
  '--inline-suppr',
  '--quiet',
  '--std=c11', // the newest this version knows; the compilers check the rest
  '--template={file}:{line}: {message} [{id}]',
  '-j2',
  `--cppcheck-build-dir=${cache}`,
  '-Isrc',
  '-Iinclude',
  '-D__linux__',
  '-D_GNU_SOURCE',
  '-DCM_AUTO_CLEANUP',
  '--suppress=missingIncludeSystem',
  '--suppress=unknownMacro', // macros of headers that are not given to it
  '--suppress=normalCheckLevelMaxBranches',
  '--suppress=uninitvar', // takes `err ? err : &local` for a use; the compilers and clang-tidy look for this with flow
  '--suppress=nullPointerRedundantCheck', // does not know a function that never returns; clang-tidy does
  '--suppress=autoVariables', // a local flag lent to an object for the time of one call
];
const r = await run('cppcheck', [...args, ...sources('src', 'c')]);
if (r.status === 127) finding('cppcheck', 0, r.output);
for (const line of r.output.split('\n')) {
  const m = /^([^:\s]+):(\d+): (.*)$/.exec(line);
  if (m) finding(m[1], m[2], m[3]);
}
for (const path of sources('src|include|tests|bench|examples', '[ch]')) {
  readLines(path).forEach((line, i) => {
    if (/cppcheck-suppress/.test(line) && !/cppcheck-suppress \S+ \/\/ \S/.test(line)) {
      finding(path, i + 1, 'a suppression carries its reason: // cppcheck-suppress ID // reason');
    }
    if (/NOLINT/.test(line) && !/NOLINT(NEXTLINE)?\(\S+\)\s*:? ?\S/.test(line)) {
      finding(path, i + 1, 'a suppression names its check and carries its reason: // NOLINT(check): reason');
    }
  });
}
finish();
