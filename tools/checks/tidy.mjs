// clang-tidy (.clang-tidy) over the sources of the product. It is slow, so a file that passed is not looked at again until
// it, any header, the settings or the compiler's version change; the marks lie in the build folder.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, finding, finish, forEach, libraryFlags, read, run, sources } from './tree.mjs';

const marks = join(build, 'tidy');
mkdirSync(marks, { recursive: true });

const flags = ['--quiet', '--', '-std=gnu17', '-D_GNU_SOURCE', '-Isrc', '-Iinclude', `-I${join(build, 'js')}`, `-I${build}`, ...libraryFlags()];
const version = (await run('clang-tidy', ['--version'])).output;
const common = createHash('sha256');
common.update(version).update(read('.clang-tidy')).update(flags.join(' '));
for (const path of sources('src|include', 'h')) common.update(path).update(read(path));
const base = common.digest('hex');

await forEach(sources('src', 'c'), async (path) => {
  const mark = join(marks, createHash('sha256').update(base).update(path).update(read(path)).digest('hex'));
  if (existsSync(mark)) return;
  const r = await run('clang-tidy', [path, ...flags]);
  if (r.status === 0) return writeFileSync(mark, `${path}\n`);
  const lines = r.output.split('\n').filter((l) => /: (error|warning): /.test(l));
  for (const l of lines) {
    const m = /^(.+?):(\d+):\d+: (?:error|warning): (.*?)(,-warnings-as-errors)?\]?$/.exec(l);
    if (m) finding(m[1].replace(/^.*?\/((src|include)\/)/, '$1'), m[2], `${m[3]}]`);
  }
  if (lines.length === 0) finding(path, 0, `clang-tidy failed: ${r.output.trim()}`);
});
finish();
