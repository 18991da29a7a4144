// quickjs-emscripten: a QuickJS runtime for each program, in WebAssembly in the caller's own process.
import { getQuickJS } from 'quickjs-emscripten';
import { readFileSync } from 'node:fs';
import { makeTools } from './programs.mjs';

const { version } = JSON.parse(readFileSync(new URL('node_modules/quickjs-emscripten/package.json', import.meta.url), 'utf8'));

const wrapped = (code) => `
  const bench = new Proxy({}, { get: (_, name) => async (args) => JSON.parse(await __call(name, JSON.stringify(args))) });
  (async () => JSON.stringify(await (async () => {${code}\n})()))()`;

export async function open() {
  const quickjs = await getQuickJS();
  const { tools, ...held } = makeTools({ rowsAsText: true });
  const call = async (name, args) => (name === 'rows' ? tools.rows() : JSON.stringify(await tools[name](JSON.parse(args))));

  async function run(code, { cpuMs, memoryMb = 128 }) {
    const runtime = quickjs.newRuntime();
    runtime.setMemoryLimit(memoryMb * 2 ** 20);
    if (cpuMs) {
      const end = performance.now() + cpuMs;
      runtime.setInterruptHandler(() => performance.now() > end);
    }
    const vm = runtime.newContext();
    const pending = [];
    try {
      const fn = vm.newFunction('__call', (name, args) => {
        const promise = vm.newPromise();
        pending.push(promise);
        call(vm.getString(name), vm.getString(args)).then((text) => {
          vm.newString(text).consume((handle) => promise.resolve(handle));
          runtime.executePendingJobs();
        });
        return promise.handle;
      });
      vm.setProp(vm.global, '__call', fn);
      fn.dispose();
      const promised = vm.unwrapResult(vm.evalCode(wrapped(code)));
      const settled = vm.resolvePromise(promised);
      promised.dispose();
      runtime.executePendingJobs();
      return vm.unwrapResult(await settled).consume((handle) => JSON.parse(vm.getString(handle)));
    } finally {
      for (const p of pending) p.dispose();
      vm.dispose();
      runtime.dispose();
    }
  }
  return { name: 'quickjs-emscripten', version, run, ...held };
}
