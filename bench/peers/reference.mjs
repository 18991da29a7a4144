// The reference, @cloudflare/codemode, on a local workerd: each request is passed to the host's Worker, which measures in itself.
import { readFileSync } from 'node:fs';
import { peakMb, pssMb, resetPeak, rssMb } from './memory.mjs';
import { check } from './workloads.mjs';
import { programs } from './programs.mjs';
import { startWorkerd } from './reference/workerd.mjs';

const versionOf = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
const PATIENCE_MS = 3000;
const KILL_MB = 512; // beyond a limit
const ROWS_TOO_LARGE = 'its log takes values of up to 1,000,000 bytes';

export async function open() {
  let workerd = await startWorkerd();
  const restart = async () => {
    await workerd.end();
    workerd = await startWorkerd();
  };
  const ask = async (message) => {
    const answer = await workerd.ask(message);
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  const pass = (peer, request) => ask({ ...request, durable: Boolean(request.opts.durable) });

  /** There is no limit of CPU time: what never yields holds the whole process, with every run in it. */
  async function cpuLimit() {
    const spinning = ask({ w: 'code', code: programs.W7.code }).then(() => 'it ended', () => 'it ended');
    const late = new Promise((tell) => setTimeout(tell, PATIENCE_MS, 'late'));
    if ((await Promise.race([spinning, late])) !== 'late') throw new Error('a program without end has ended');
    const other = ask({ w: 'code', code: programs.W1.code }).then(() => 'answered', () => 'died');
    const others = await Promise.race([other, new Promise((tell) => setTimeout(tell, PATIENCE_MS, 'late'))]);
    await restart();
    return { skip: others === 'late' ? 'never: every run of the process stands still for ever' : 'never' };
  }

  async function bomb(peer, { opts }) {
    await ask({ w: 'code', code: programs.W1.code });
    const before = rssMb(workerd.pid);
    resetPeak(workerd.pid);
    let peak = 0;
    let over;
    const limit = before + opts.memoryMb;
    const sampler = setInterval(() => {
      try {
        peak = peakMb(workerd.pid) || peak;
      } catch {
        // gone: the last value stands
      }
      if (peak > limit + KILL_MB) over?.(`killed, ${KILL_MB} MB over`);
    }, 5);
    const killed = new Promise((tell) => (over = tell));
    const died = workerd.gone.then(() => 'the process died, with every run in it');
    const ended = ask({ w: 'code', code: opts.code }).then(() => 'it ended well', (e) => e.message);
    const note = await Promise.race([killed, died, new Promise((tell) => ended.then((text) => setTimeout(tell, 50, text)))]);
    clearInterval(sampler);
    await restart();
    return { figures: { overMb: peak - limit }, note };
  }

  async function waiting(peer, { opts }) {
    await pass(peer, { w: 'W2', runs: 10, opts: {} });
    const host = pssMb(workerd.pid);
    const runs = ask({ w: 'wait', count: opts.waiting });
    while ((await ask({ w: 'held' })).held < opts.waiting) await new Promise((again) => setTimeout(again, 5));
    const all = pssMb(workerd.pid);
    await ask({ w: 'release' });
    for (const answer of (await runs).results) check(answer, programs.W9.answer);
    return { figures: { hostMb: host, eachMb: (all - host) / opts.waiting } };
  }

  const workloads = Object.fromEntries(['W1', 'W2', 'W3', 'W4', 'W6', 'W10', 'W11', 'W12'].map((w) => [w, pass]));
  workloads.W5 = (peer, request) => (request.opts.durable ? { skip: ROWS_TOO_LARGE } : pass(peer, request));
  Object.assign(workloads, { W7: cpuLimit, W8: bomb, W9: waiting });
  return { name: '@cloudflare/codemode', version: versionOf('@cloudflare/codemode'), versions: { workerd: versionOf('workerd') }, workloads, end: () => workerd.end() };
}
