// Fuzzes what is written in JavaScript: node tests/fuzz/fuzz.mjs NAME SECONDS [SEED] [MOST]
//
// A target is fuzz_<name>.mjs with inputs(choose), which returns a function that makes one text after the other, and check(text),
// which throws when a property does not hold. The texts follow from the seed. The first input that breaks a property is cut down
// as far as it still breaks in the same way and saved in corpus/<name>/, which tests/e2e/fuzz.test.mjs runs in every test run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chooser } from './random.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
export const corpus = (name) => join(here, 'corpus', name);
export const target = (name) => import(pathToFileURL(join(here, `fuzz_${name}.mjs`)));

/** The message of what breaks, without the numbers and quotations in it; undefined when nothing does. */
function kindOf(check, text) {
  try {
    check(text);
  } catch (e) {
    return `${e.name}: ${e.message.split('\n')[0].replace(/'[^']*'|\d+/g, '…')}`;
  }
  return undefined;
}

/** A smaller text that breaks in the same way: pieces are left out, smaller and smaller ones. */
export function minimise(check, text) {
  const kind = kindOf(check, text);
  for (let size = text.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < text.length; ) {
      const shorter = text.slice(0, at) + text.slice(at + size);
      if (kindOf(check, shorter) === kind) text = shorter;
      else at += size;
    }
  }
  return text;
}

/** Each file of a target's corpus; returns how many there are. */
export async function replay(name) {
  const { check } = await target(name);
  const files = existsSync(corpus(name)) ? readdirSync(corpus(name)) : [];
  for (const file of files) {
    try {
      check(readFileSync(join(corpus(name), file), 'utf8'));
    } catch (e) {
      e.message = `${name}/${file}: ${e.message}`;
      throw e;
    }
  }
  return files.length;
}

/** Check up to `most` inputs or for `ms`; returns {n, found?: {text, message}}. */
export async function search(name, { seed = 1, most = Infinity, ms = Infinity }) {
  const { check, inputs } = await target(name);
  const make = inputs(chooser(seed)), end = performance.now() + ms;
  for (let n = 0; n < most; n++) {
    if (n % 64 === 0 && performance.now() > end) return { n };
    const text = make();
    try {
      check(text);
    } catch (e) {
      return { n, found: { text, message: e.message } };
    }
  }
  return { n: most };
}

async function main([name, seconds, seed = String(Date.now() >>> 0), most = 'Infinity']) {
  const { n, found } = await search(name, { seed: Number(seed), most: Number(most), ms: Number(seconds) * 1000 });
  console.log(`${n} inputs from seed ${seed}`);
  if (!found) return 0;
  const small = minimise((await target(name)).check, found.text);
  const path = join(corpus(name), `found-${createHash('sha1').update(small).digest('hex').slice(0, 12)}`);
  mkdirSync(corpus(name), { recursive: true });
  writeFileSync(path, small);
  console.error(`${found.message}\n${JSON.stringify(small)}\nsaved as ${path}`);
  return 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
