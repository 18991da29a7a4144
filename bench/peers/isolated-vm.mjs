// isolated-vm: a V8 isolate for each program. What is called crosses as JSON text, its fastest way; the isolate is made, used and
// disposed of by the asynchronous functions, since the others would block the caller's event loop.
import ivm from 'isolated-vm';
import { readFileSync } from 'node:fs';
import { makeTools } from './programs.mjs';

const { version } = JSON.parse(readFileSync(new URL('node_modules/isolated-vm/package.json', import.meta.url), 'utf8'));

const wrapped = (code) => `
  const bench = new Proxy({}, {
    get: (_, name) => async (args) => JSON.parse(await $0.apply(undefined, [name, JSON.stringify(args)], { result: { promise: true } })),
  });
  return (async () => JSON.stringify(await (async () => {${code}\n})()))();`;

export function open() {
  const { tools, ...held } = makeTools({ rowsAsText: true });
  const call = async (name, args) => (name === 'rows' ? tools.rows() : JSON.stringify(await tools[name](JSON.parse(args))));
  async function run(code, { cpuMs, memoryMb = 128 }) {
    const isolate = new ivm.Isolate({ memoryLimit: memoryMb });
    try {
      const context = await isolate.createContext();
      const reference = new ivm.Reference(call);
      const result = await context.evalClosure(wrapped(code), [reference], { timeout: cpuMs, result: { promise: true } });
      return JSON.parse(result);
    } finally {
      if (!isolate.isDisposed) isolate.dispose();
    }
  }
  return { name: 'isolated-vm', version, run, ...held };
}
