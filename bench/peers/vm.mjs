// node:vm: a fresh context for each program in the caller's own heap. No sandbox, and no limit but the time of what does not await:
// the floor of what V8 takes.
import { createContext, runInContext } from 'node:vm';
import { makeTools } from './programs.mjs';

export function open() {
  const { tools, ...held } = makeTools({ rowsAsText: false });
  const run = async (code, { cpuMs }) =>
    JSON.parse(JSON.stringify(await runInContext(`(async () => {${code}\n})()`, createContext({ bench: tools }), cpuMs ? { timeout: cpuMs } : {})));
  return { name: 'node:vm', version: process.versions.node, run, ...held };
}
