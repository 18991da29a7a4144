// No warning from gcc or clang, with the flags of the build, over every C file that it compiles. A file that passed is not
// compiled again until it, a header or the flags change.
import { compileCommands, finding, finish, forEachChanged, run } from './tree.mjs';

// What one compiler does not know of the other's flags is no fault of the source.
const compilers = [
  ['gcc', ['-c', '-o', '/dev/null']], // optimising, since some of its warnings need the flow
  ['clang', ['-fsyntax-only', '-Wno-unknown-warning-option', '-Wno-unused-command-line-argument', '-Wno-ignored-optimization-argument']],
];
const commands = compileCommands();

for (const [cc, own] of compilers) {
  const version = (await run(cc, ['--version'])).output.split('\n')[0];
  const flags = [...commands].map(([path, { args }]) => path + args.join(' ')).join('\n');
  await forEachChanged(`warnings-${cc}`, version + own + flags, [...commands.keys()], async (path) => {
    const { folder, args } = commands.get(path);
    const r = await run(cc, [...args, ...own, '-Werror', '-fno-diagnostics-color', `${process.cwd()}/${path}`], { cwd: folder });
    if (r.status === 0) return true;
    const lines = [...r.output.matchAll(/^(?:.*?\/)?((?:src|include|tests|bench|examples)\/[^:\n]+):(\d+):\d+: (?:fatal )?(?:error|warning): (.*)$/gm)];
    for (const [, file, line, message] of lines) finding(file, line, `${cc}: ${message}`);
    if (lines.length === 0) finding(path, 0, `${cc}: ${r.output.trim()}`);
    return false;
  });
}
finish();
