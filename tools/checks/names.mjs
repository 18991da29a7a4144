// The tree names no package registry, no path of one machine and no unfinished work, so that it builds behind any mirror
// and anywhere. A host in an address needs a row in tools/checks/hosts.txt; the lock names none.
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { files, finding, finish, readLines, root } from './tree.mjs';

const SIZE_MAX = 2_000_000; // bytes; larger files are data
const data = /^(tests\/cases|tests\/fuzz\/corpus|js\/dist)\/|(^|\/)package-lock\.json$|\.(png|jpg|gif|ico|woff2?|gz|wasm|db)$/;
const hosts = new Set(readLines('tools/checks/hosts.txt').filter((l) => l && !l.startsWith('#')).map((l) => l.split(/\s+/)[0]));
const reserved = /(^|\.)(localhost|example|test|invalid|local|example\.(com|net|org))$|^\d+\.\d+\.\d+\.\d+$|^\[/;

// In pieces, so that this file does not contain what it forbids.
const machine = new RegExp(`(^|[\\s"'\`(=:])/(${['work', 'root'].join('|')})/[\\w.]`);
const unfinished = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`);
const registry = new RegExp(['registry\\.np' + 'm', 'deb\\.deb' + 'ian\\.', 'py' + 'pi\\.org', 'crates\\.' + 'io', 'node' + 'source\\.com'].join('|'), 'i');

function checkLine(path, number, line) {
  for (const [, host] of line.matchAll(/\b(?:https?|wss?):\/\/(\[[^\]]+\]|[^\s/"'`<>)\\:?#,;{}$*|]+)/g)) {
    const name = host.toLowerCase().replace(/^.*@/, '').replace(/\.+$/, '');
    if (!name.includes('.') || reserved.test(name) || hosts.has(name)) continue;
    finding(path, number, `names the host '${name}'; use a name under .example or .test, or give the host a row in tools/checks/hosts.txt`);
  }
  if (registry.test(line)) finding(path, number, 'names a package registry; say what to install and let the machine know from where');
  if (machine.test(line)) finding(path, number, 'names a path of one machine; use a relative path, a temporary folder or a variable');
  if (unfinished.test(line)) finding(path, number, 'unfinished work; do it or leave it out');
}

for (const path of files) {
  const stat = statSync(`${root}/${path}`);
  if (!stat.isFile() || stat.size > SIZE_MAX || data.test(path)) continue;
  readLines(path).forEach((line, i) => checkLine(path, i + 1, line));
}

for (const lock of files.filter((p) => basename(p) === 'package-lock.json')) {
  readLines(lock).forEach((line, i) => {
    if (/"resolved"\s*:/.test(line) && !/"resolved"\s*:\s*"[a-z0-9/_.-]+",?$/i.test(line)) {
      finding(lock, i + 1, "names where a package came from; .npmrc says omit-lockfile-registry-resolved, run 'npm install' again");
    }
  });
}
finish();
