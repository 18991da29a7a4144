// Scripts parse: shell with sh -n, JavaScript with node --check; what starts with #! may be executed.
import { statSync } from 'node:fs';
import { files, finding, finish, forEach, read, root, run } from './tree.mjs';

const text = files.filter((p) => !/^(js\/dist|tests\/cases|tests\/fuzz\/corpus)\//.test(p) && statSync(`${root}/${p}`).isFile());
const shebang = new Map(text.filter((p) => !/\.(c|h|md|json|mjs|js|build|yaml)$/.test(p)).map((p) => [p, /^#!(.*)/.exec(read(p))?.[1]]));

const jobs = [
  ...text.filter((p) => /^(bench|examples|packages|tests|tools|js)\/.*\.(mjs|cjs)$/.test(p)).map((p) => [p, process.execPath, ['--check', p]]),
  ...[...shebang].filter(([, program]) => /\/(ba|da)?sh\b/.test(program ?? '')).map(([p, program]) => [p, /bash/.test(program) ? 'bash' : 'sh', ['-n', p]]),
];
await forEach(jobs, async ([path, program, args]) => {
  const r = await run(program, args);
  if (r.status !== 0) finding(path, 0, `does not parse: ${r.output.trim()}`);
});
for (const [path, program] of shebang) {
  if (program && !(statSync(`${root}/${path}`).mode & 0o100)) finding(path, 0, 'starts with #! but may not be executed; chmod +x');
}
finish();
