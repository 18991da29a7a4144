// driver.mjs PEER: one peer behind the bench's line protocol (docs/benchmarks.md), measured in this process.
import { createInterface } from 'node:readline';
import { peakMb, pssMb, resetPeak, rssMb } from './memory.mjs';
import { programs } from './programs.mjs';
import { check, neutral } from './workloads.mjs';

const REFUSED = 'it took the memory bomb for an ordinary program';

/** By how much the process grew beyond the limit, at most. A bomb that ends well was no bomb, or there is no limit. */
async function bomb(peer, { opts }) {
  await peer.run(programs.W1.code, {});
  const before = rssMb(process.pid);
  resetPeak(process.pid);
  const ended = await peer.run(opts.code, { memoryMb: opts.memoryMb, cpuMs: opts.cpuMs }).then(() => REFUSED, (e) => e.message);
  return { figures: { overMb: peakMb(process.pid) - before - opts.memoryMb }, note: ended };
}

/** A program more each time, all waiting for an answer. */
async function waiting(peer, { opts }) {
  for (let i = 0; i < 10; i++) await peer.run(programs.W2.code, {});
  const host = pssMb(process.pid);
  const runs = Array.from({ length: opts.waiting }, () => peer.run(programs.W9.code, {}));
  while (peer.held() < opts.waiting) await new Promise((again) => setTimeout(again, 5));
  const all = pssMb(process.pid);
  peer.release();
  for (const answer of await Promise.all(runs)) check(answer, programs.W9.answer);
  return { figures: { hostMb: host, eachMb: (all - host) / opts.waiting } };
}

const peer = await (await import(`./${process.argv[2]}.mjs`)).open();
const handlers = { ...neutral, W8: bomb, W9: waiting, ...peer.workloads };
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

say({ hello: { name: peer.name, version: peer.version, ...peer.versions } });
for await (const line of createInterface({ input: process.stdin })) {
  const request = { opts: {}, runs: 1, ...JSON.parse(line) };
  const handler = handlers[request.w];
  try {
    say(handler ? await handler(peer, request) : { skip: 'does not have this' });
  } catch (e) {
    say({ error: String(e?.stack ?? e) });
  }
}
await peer.end?.();
process.exit(0);
