// The workloads that are measured where the user of a peer would stand, so that all are measured alike: in the driver's process for
// what is a library, in the host's Worker for the reference. Knows neither Node nor workerd.
//
// A peer is {run(code, limits)}: one program in a fresh sandbox, from its text to its result, the sandbox gone. limits: {cpuMs}.
import { programs } from './programs.mjs';

const now = () => performance.now();

export function check(answer, expected) {
  if (JSON.stringify(answer) !== JSON.stringify(expected)) throw new Error(`answered ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`);
}

/** With `pauseMs` nothing happens for so long before each run, which is then that of a machine that has gone cold. */
async function repeat(peer, program, runs, { pauseMs } = {}) {
  const ms = [];
  for (let i = 0; i < runs; i++) {
    if (pauseMs) await new Promise((over) => setTimeout(over, pauseMs));
    const before = now();
    const answer = await peer.run(program.code, {});
    ms.push(now() - before);
    check(answer, program.answer);
  }
  return { ms };
}

/** One run of what others of the same host run meanwhile. */
async function other(peer, times) {
  const before = now();
  check(await peer.run(programs.W2.code, {}), programs.W2.answer);
  times.push(now() - before);
}

const sorted = (times) => times.sort((a, b) => a - b);
const quantile = (times, q) => sorted(times)[Math.max(0, Math.ceil(q * times.length) - 1)];

/** From the limit to the caller having control again; with `others`, another caller runs something else all the while. */
async function cpuLimit(peer, runs, { cpuMs = 100, others = 0 }) {
  const ms = [];
  const alone = [];
  const beside = [];
  for (let i = 0; others && i < 200; i++) await other(peer, alone);
  for (let i = 0; i < runs; i++) {
    let over = false;
    const besides = async () => {
      while (!over) {
        await other(peer, beside);
        await new Promise((next) => setTimeout(next));
      }
    };
    const running = others ? besides() : undefined;
    const before = now();
    const ended = await peer.run(programs.W7.code, { cpuMs }).then(() => 'it ended', () => undefined);
    ms.push(now() - before - cpuMs);
    check(ended, undefined);
    over = true;
    await running;
  }
  if (!others) return { ms };
  return { ms, figures: { otherAlone: quantile(alone, 0.5), otherBeside: quantile(beside, 0.5), otherBesideP95: quantile(beside, 0.95) } };
}

/** So many at once, each replaced when it ends; what ends in the first fifth of the time is not counted. */
async function throughput(peer, { inFlight = 1, ms = 2000 }) {
  const from = now();
  const counting = from + ms * 0.2;
  const end = from + ms * 1.2;
  let ended = 0;
  const client = async () => {
    while (now() < end) {
      check(await peer.run(programs.W1.code, {}), programs.W1.answer);
      if (now() >= counting) ended++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  return { perSecond: (ended * 1000) / (now() - counting) };
}

export const neutral = {
  W1: (peer, { runs, opts }) => repeat(peer, programs.W1, runs, opts),
  W2: (peer, { runs, opts }) => repeat(peer, programs.W2, runs, opts),
  W3: (peer, { runs, opts }) => repeat(peer, programs.W3, runs, opts),
  W4: (peer, { runs, opts }) => repeat(peer, programs.W4, runs, opts),
  W5: (peer, { runs, opts }) => repeat(peer, programs.W5, runs, opts),
  W6: (peer, { runs, opts }) => repeat(peer, programs[`W6 ${opts.part ?? 'fib'}`], runs),
  W7: (peer, { runs, opts }) => cpuLimit(peer, runs, opts),
  W10: (peer, { opts }) => throughput(peer, opts),
};
