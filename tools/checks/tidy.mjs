// clang-tidy (.clang-tidy) over the sources of the product, as the build compiles them. It is slow, so a file that passed is
// not looked at again until it, a header, the settings or clang-tidy itself changes.
import { build, compileCommands, finding, finish, forEachChanged, read, run, sources } from './tree.mjs';

const commands = compileCommands();
const flags = ['--quiet', '-p', build, '--extra-arg=-Wno-unknown-warning-option'];
const version = (await run('clang-tidy', ['--version'])).output;
const paths = sources('src', 'c').filter((path) => commands.has(path)); // the check "inputs" knows of the others

await forEachChanged('tidy', version + read('.clang-tidy') + flags.join(' '), paths, async (path) => {
  const r = await run('clang-tidy', [...flags, path]);
  if (r.status === 0) return true;
  const lines = r.output.split('\n').filter((l) => /: (error|warning): /.test(l));
  for (const l of lines) {
    const m = /^(.+?):(\d+):\d+: (?:error|warning): (.*?)(,-warnings-as-errors)?\]?$/.exec(l);
    if (m) finding(m[1].replace(/^.*?\/((src|include)\/)/, '$1'), m[2], `${m[3]}]`);
  }
  if (lines.length === 0) finding(path, 0, `clang-tidy failed: ${r.output.trim()}`);
  return false;
});
finish();
