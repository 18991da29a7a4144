// Calls that have a safer counterpart here, in a table with it. Comments and strings do not count. A line that must use
// one all the same says why: `/* allowed: reason */` at its end.
import { codeOnly, finding, finish, read, sources } from './tree.mjs';

const buffer = 'cm_buf_* or snprintf';
const number = 'cm_parse_u32 and friends, which see overflow and rubbish';
const banned = {
  strcpy: buffer, strcat: buffer, stpcpy: buffer, strncpy: buffer, strncat: buffer, sprintf: 'snprintf', vsprintf: 'vsnprintf',
  gets: 'cm_read_fd', strtok: 'cm_str_split', strtok_r: 'cm_str_split', scanf: number, sscanf: number, fscanf: number,
  atoi: number, atol: number, atoll: number, atof: number, strtol: number, strtoll: number, strtoul: number, strtoull: number,
  malloc: 'cm_malloc or cm_try_malloc', calloc: 'cm_calloc or cm_try_calloc', realloc: 'cm_realloc or cm_try_realloc',
  strdup: 'cm_strdup', alloca: 'a buffer with a maximum', system: 'posix_spawn or the loop, which start no shell',
  popen: 'posix_spawn or the loop, which start no shell', tmpnam: 'mkstemp', mktemp: 'mkstemp', rand: 'cm_random_bytes',
  random: 'cm_random_bytes', srand: 'cm_random_bytes', localtime: 'gmtime_r', gmtime: 'gmtime_r', asctime: 'strftime',
  ctime: 'strftime', usleep: 'an event to wait for', sleep: 'an event to wait for', vfork: 'fork or posix_spawn',
};
// Who may call them all the same: base wraps what the others must not call; commands and examples know <codemode.h> alone; tests
// allocate and parse as they like, but wait for events; the experiments behind decisions stand alone.
const free = {
  'src/base/': /^(malloc|calloc|realloc|strdup|strtou?ll?|strtod)$/,
  'src/cli/': /^(malloc|calloc|realloc|strdup)$/,
  'examples/': /^(malloc|calloc|realloc|strdup)$/,
  'tests/': /^(malloc|calloc|realloc|strdup|system|popen|strtou?ll?|strtok_r|[fs]?scanf|random|rand)$/,
  'bench/adr/': /./,
};

const call = new RegExp(`(?<![\\w.>])(${Object.keys(banned).join('|')})\\s*\\(`, 'g');

for (const path of sources('src|include|tests|bench|examples', '[ch]')) {
  const text = read(path);
  const lines = text.split('\n');
  const exempt = Object.entries(free).find(([folder]) => path.startsWith(folder))?.[1];
  codeOnly(text).split('\n').forEach((line, i) => {
    for (const [, name] of line.matchAll(call)) {
      if (exempt?.test(name) || /allowed: \S/.test(lines[i])) continue;
      finding(path, i + 1, `${name}() is banned; use ${banned[name]}`);
    }
  });
}
finish();
