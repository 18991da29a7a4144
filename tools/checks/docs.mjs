// Documentation follows the program: every command and long option that `codemode --help` and `codemode COMMAND --help` show
// occurs in a man page, in the Markdown documents and in each completion file; every relative link in a Markdown file leads to
// a file, and every `#fragment` to a heading. Examples in documents are run by tests/e2e/docs.test.mjs.
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { build, files, finding, finish, read, root, run } from './tree.mjs';

const program = join(build, 'src/cli/codemode');

/** The indented first words below a heading that begins with "commands". */
function commandsOf(help) {
  const section = /^\s*commands\b.*:?\s*\n([\s\S]*?)(?:\n\S|$(?![\s\S]))/im.exec(help)?.[1] ?? '';
  return [...section.matchAll(/^ {2,4}([a-z][a-z-]*)\b/gm)].map((m) => m[1]);
}

const optionsOf = (help) => [...new Set([...help.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map((m) => m[0]))];

async function help(...args) {
  const r = await run(program, [...args, '--help'], { env: { PATH: process.env.PATH, HOME: build } });
  if (r.status !== 0) finding('codemode', 0, `'codemode ${[...args, '--help'].join(' ')}' ended with status ${r.status}`);
  return r.output;
}

async function checkHelp() {
  const main = await help();
  const commands = commandsOf(main);
  if (commands.length === 0) finding('codemode', 0, "'codemode --help' shows no section 'Commands:' with one indented command a line");
  const words = new Map([...commands, ...optionsOf(main)].map((w) => [w, 'codemode --help']));
  for (const command of commands) for (const o of optionsOf(await help(command))) if (!words.has(o)) words.set(o, `codemode ${command} --help`);

  const man = files.filter((p) => /^man\/.*\.[1-8]$/.test(p));
  const documents = files.filter((p) => /^(README\.md|docs\/.*\.md)$/.test(p));
  const places = [
    ['the man pages (man/)', man.map(read).join('\n').replace(/\\-/g, '-').replace(/\\f[BIRP]/g, '')],
    ['README.md or docs/', documents.map(read).join('\n')],
    ...files.filter((p) => p.startsWith('completions/')).map((p) => [p, read(p)]),
  ];
  for (const [word, from] of words) {
    // A completion may name an option without its dashes (fish: -l json).
    const bare = word.replace(/^--/, '');
    for (const [place, text] of places) {
      const wanted = new RegExp(`(?<![\\w-])${place.startsWith('completions/') ? `(--)?${bare}` : word}(?![\\w-])`);
      if (!wanted.test(text)) finding(place, 0, `says nothing of '${word}', which ${from} shows`);
    }
  }
}

/** GitHub's rule for the anchor of a heading. */
function anchors(path) {
  const seen = new Map();
  return new Set(
    withoutCode(read(path)).split('\n').filter((l) => /^#{1,6} /.test(l)).map((l) => {
      const slug = l.replace(/^#+ /, '').replace(/[`*]/g, '').trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
      const n = seen.get(slug) ?? 0;
      seen.set(slug, n + 1);
      return n ? `${slug}-${n}` : slug;
    }),
  );
}

const withoutCode = (text) => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, (s) => s.replace(/[^\n]/g, ' '));

function checkLink(path, line, target) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return;
  const [file, fragment] = target.split('#');
  const to = file ? normalize(join(dirname(path), decodeURIComponent(file))) : path;
  if (!existsSync(join(root, to))) return finding(path, line, `the link '${target}' leads nowhere: ${to} does not exist`);
  if (fragment && to.endsWith('.md') && !anchors(to).has(fragment)) finding(path, line, `the link '${target}': ${to} has no heading '#${fragment}'`);
}

for (const path of files.filter((p) => p.endsWith('.md'))) {
  withoutCode(read(path)).split('\n').forEach((line, i) => {
    const text = line.replace(/`[^`]*`/g, '');
    for (const [, target] of text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)) checkLink(path, i + 1, target);
    for (const [, target] of text.matchAll(/^\s*\[[^\]]+\]:\s*(\S+)/g)) checkLink(path, i + 1, target);
  });
}

if (existsSync(program)) await checkHelp();
else finding('codemode', 0, `${program} is not there, so its help cannot be compared with the documents; run 'make build'`);
finish();
