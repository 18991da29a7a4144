// The layout of C sources is clang-format's business (.clang-format), nobody else's.
import { finding, finish, forEach, run, sources } from './tree.mjs';

const all = sources('src|include|tests|bench|examples|packages', '[ch]');
const batches = [];
for (let i = 0; i < all.length; i += 20) batches.push(all.slice(i, i + 20));
await forEach(batches, async (batch) => {
  const r = await run('clang-format', ['--dry-run', '-Werror', ...batch]);
  if (r.status === 0) return;
  const first = new Map(); // the first of each file tells enough
  for (const m of r.output.matchAll(/^(.+?):(\d+):\d+: (?:error|warning): /gm)) if (!first.has(m[1])) first.set(m[1], m[2]);
  for (const [path, line] of first) finding(path, line, `not formatted; run: clang-format -i ${path}`);
  if (first.size === 0) finding('clang-format', 0, r.output.trim());
});
finish();
