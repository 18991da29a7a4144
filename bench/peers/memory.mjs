// What processes have in memory, from /proc. In MB of 2^20 bytes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const kb = (path, key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'))?.[1] ?? 0);

/** A process and what descends from it. */
export function tree(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // it has ended meanwhile
    }
  }
  const found = [pid];
  for (const p of found) for (const [child, parent] of parents) if (parent === p) found.push(child);
  return found;
}

/** The proportional set size: what several processes share is divided between them. */
export const pssMb = (pid) => kb(`/proc/${pid}/smaps_rollup`, 'Pss') / 1024;
export const rssMb = (pid) => kb(`/proc/${pid}/status`, 'VmRSS') / 1024;
/** The most that was resident since the last reset. */
export const peakMb = (pid) => kb(`/proc/${pid}/status`, 'VmHWM') / 1024;
export const resetPeak = (pid) => writeFileSync(`/proc/${pid}/clear_refs`, '5');
