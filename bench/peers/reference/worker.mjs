// The host's Worker: what somebody writes who uses @cloudflare/codemode. Requests are those of the bench's line protocol; it measures in
// itself, so that a figure has what the library and workerd do and not the way from the driver to here.
import { CodemodeConnector, CodemodeRuntime, createCodemodeRuntime, DynamicWorkerExecutor } from '@cloudflare/codemode';
import { DurableObject } from 'cloudflare:workers';
import { makeTools, programs, untilApproval } from '../programs.mjs';
import { check, neutral } from '../workloads.mjs';

export { CodemodeRuntime };
const kept = makeTools({ rowsAsText: false });
const { tools } = kept;

class Bench extends CodemodeConnector {
  name() {
    return 'bench';
  }
  tools() {
    const execute = (name) => ({ description: name, execute: tools[name] });
    return { echo: execute('echo'), rows: execute('rows'), hold: execute('hold'), put: execute('echo'), ask: { ...execute('echo'), requiresApproval: true } };
  }
}

async function timed(work) {
  const before = performance.now();
  const outcome = await work();
  return { ms: performance.now() - before, outcome };
}

const fn = (code) => `async () => {${code}\n}`;

async function logged(runtime, { code, answer }) {
  const { ms, outcome } = await timed(() => runtime.execute({ code: fn(code) }));
  check(outcome.result, answer);
  return ms;
}

/** Until the pause, and from the approval to the result: by replay, as it always is here. */
async function approved(runtime, { code, answer }) {
  const paused = await timed(() => runtime.execute({ code: fn(code) }));
  check(paused.outcome.status, 'paused');
  const ended = await timed(() => runtime.approve({ executionId: paused.outcome.executionId }));
  check(ended.outcome.result, answer);
  return { pause: paused.ms, approve: ended.ms };
}

const parts = {
  reads: (runtime) => logged(runtime, programs.W3),
  effects: (runtime) => logged(runtime, programs['W3 effects']),
  pause: async (runtime) => (await approved(runtime, untilApproval(11))).pause,
  approveReplay: async (runtime) => (await approved(runtime, untilApproval(11))).approve,
  replay: async (runtime, { calls }) => (await approved(runtime, untilApproval(calls))).approve,
};

async function durable(runtime, { runs, opts }) {
  const ms = [];
  for (let i = 0; i < runs; i++) ms.push(await parts[opts.part](runtime, opts));
  return { ms };
}

export class Host extends DurableObject {
  #runtime = createCodemodeRuntime({
    ctx: this.ctx,
    executor: new DynamicWorkerExecutor({ loader: this.env.LOADER }),
    connectors: [new Bench(this.ctx, this.env)],
  });

  async #run(code) {
    const outcome = await this.#runtime.execute({ code: fn(code) });
    if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome));
    return outcome.result;
  }

  async answer(request) {
    if (request.w === 'W11') return durable(this.#runtime, request);
    return neutral[request.w]({ run: (code) => this.#run(code) }, request);
  }
}

async function oneShot(env, code) {
  const { result, error } = await new DynamicWorkerExecutor({ loader: env.LOADER }).execute(fn(code), [{ name: 'bench', fns: tools }]);
  if (error) throw new Error(error);
  return result;
}

export default {
  async fetch(request, env) {
    const asked = await request.json();
    const run = (code) => oneShot(env, code);
    try {
      if (asked.w === 'code') return Response.json({ result: await run(asked.code) });
      if (asked.w === 'held') return Response.json({ held: kept.held() });
      if (asked.w === 'release') return Response.json(kept.release() ?? {});
      if (asked.w === 'wait') return Response.json({ results: await Promise.all(Array.from({ length: asked.count }, () => run(programs.W9.code))) });
      if (!asked.durable) return Response.json(await neutral[asked.w]({ run }, asked));
      const host = env.HOST.get(env.HOST.idFromName('bench'));
      return Response.json(await host.answer(asked));
    } catch (e) {
      return Response.json({ error: String(e?.stack ?? e) });
    }
  },
};
