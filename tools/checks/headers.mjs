// Each header compiles alone, with both compilers: it includes what it needs and nothing depends on the order.
import { finding, finish, forEach, libraryFlags, run, sources } from './tree.mjs';

const flags = ['-std=gnu17', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-Wno-unused', '-Werror', '-fsyntax-only', '-x', 'c', '-Isrc', '-Iinclude'];
const compilers = [
  ['gcc', []],
  ['clang', ['-Wno-pragma-once-outside-header']],
];
const libraries = libraryFlags();

const jobs = sources('src|include', 'h').flatMap((path) => compilers.map(([cc, own]) => ({ path, cc, own })));
await forEach(jobs, async ({ path, cc, own }) => {
  const r = await run(cc, [...flags, ...own, ...libraries, path]);
  if (r.status !== 0) finding(path, 0, `does not compile alone with ${cc}:\n${r.output.trim()}`);
});
finish();
