// What the checks share: the files of the tree, findings, and running a program over many files.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(import.meta.url), '../../..');
export const build = resolve(root, process.env.CODEMODE_BUILD ?? 'build/default');

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
});

/** Paths of every file of the tree, relative to the root; those Git ignores are not part of it. */
export const files = [...new Set(listed.split('\0'))].filter((path) => path && existsSync(resolve(root, path))).sort();

export const read = (path) => readFileSync(resolve(root, path), 'utf8');
export const readLines = (path) => read(path).split('\n');

/** @param {string} folders  pattern of the leading folder, as `src|include` */
export function sources(folders, extensions) {
  return files.filter((path) => new RegExp(`^(${folders})/.*\\.(${extensions})$`).test(path));
}

/** C text with comments, strings and character constants blanked out; lines and columns stay. */
export function codeOnly(text) {
  const blank = (s) => s.replace(/[^\n]/g, ' ');
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/g, blank);
}

let findings = 0;

export function finding(path, line, message) {
  findings++;
  console.log(`${path}${line ? `:${line}` : ''}: ${message}`);
}

export function note(message) {
  console.log(`note: ${message}`);
}

/** To be called last. */
export function finish() {
  process.exitCode = findings ? 1 : 0;
}

/** Run a program to its end. */
export function run(command, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (e) => done({ status: 127, output: `${command}: ${e.message}` }));
    child.on('close', (status) => done({ status, output }));
  });
}

/** Call `each` for every item, two at a time: the machine has few cores and other checks run beside. */
export async function forEach(items, each) {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await each(item);
  };
  await Promise.all([lane(), lane()]);
}

/** The flags of the libraries that meson.build names, as pkg-config knows them. */
export function libraryFlags() {
  const modules = dependencies();
  const known = modules.filter((m) => {
    try {
      execFileSync('pkg-config', ['--exists', m]);
      return true;
    } catch {
      return false;
    }
  });
  return execFileSync('pkg-config', ['--cflags', ...known], { encoding: 'utf8' }).trim().split(/\s+/).filter(Boolean);
}

/** pkg-config modules named in the tree's build descriptions. */
export function dependencies() {
  const text = files.filter((p) => p.endsWith('meson.build')).map(read).join('\n');
  const names = [...text.matchAll(/\bdependency\('([^']+)'/g)].map((m) => m[1]);
  return [...new Set(names)].filter((name) => name !== 'threads').sort();
}

/** Words of a command line as a shell splits them: Meson quotes what needs it. */
function splitCommand(text) {
  const words = [...text.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+/g)].map((m) => m[0]);
  return words.map((w) => w.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_, single, double, one) => single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? one));
}

/** How the build compiles each C file: Map from path to {folder, args}, args without compiler, output and dependency files. */
export function compileCommands() {
  const path = join(build, 'compile_commands.json');
  if (!existsSync(path)) throw new Error(`${path} is not there; run 'make build'`);
  const all = new Map();
  for (const { directory, command, file } of JSON.parse(readFileSync(path, 'utf8'))) {
    const words = splitCommand(command).slice(1);
    const args = words.filter((w, i) => !/^-(MD|MQ|MF|o|c)$/.test(w) && !/^-(MQ|MF|o)$/.test(words[i - 1]) && w !== file);
    all.set(relative(root, resolve(directory, file)), { folder: directory, args });
  }
  return all;
}

/**
 * Run `look` for the sources that did not pass before with the same text, headers and settings; marks lie in the build folder.
 * look(path) resolves to whether it passed.
 */
export async function forEachChanged(name, settings, paths, look) {
  const marks = join(build, 'checks', name);
  mkdirSync(marks, { recursive: true });
  const common = createHash('sha256').update(settings);
  for (const path of sources('src|include|tests', 'h')) common.update(path).update(read(path));
  const base = common.digest('hex');
  await forEach(paths, async (path) => {
    const mark = join(marks, createHash('sha256').update(base).update(path).update(read(path)).digest('hex'));
    if (!existsSync(mark) && (await look(path))) writeFileSync(mark, `${path}\n`);
  });
}
