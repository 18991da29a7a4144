// Every program that stands in tests/cases, as a start for mutations.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CASES = fileURLToPath(new URL('../cases', import.meta.url));
const MOST_CHARS = 3000;

/** The programs of a case file (tests/unit/engine_cases.h has its form). */
function programsOf(text) {
  return text.split(/^=== .*\n/m).slice(1).map((one) => one.split(/^--- /m)[0].replace(/\n$/, ''));
}

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => (e.isDirectory() ? walk(join(folder, e.name)) : join(folder, e.name)));
}

export function programs() {
  return walk(CASES)
    .flatMap((path) => {
      if (/\.(js|ts|mjs)$/.test(path)) return [readFileSync(path, 'utf8')];
      return path.endsWith('.txt') ? programsOf(readFileSync(path, 'utf8')) : [];
    })
    .filter((text) => text.length <= MOST_CHARS);
}
