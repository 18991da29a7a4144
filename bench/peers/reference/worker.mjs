// The host's Worker: what somebody writes who uses @cloudflare/codemode. Requests are those of the bench's line protocol; it measures in
// itself, so that a figure has what the library and workerd do and not the way from the driver to here.
import { CodemodeConnector, CodemodeRuntime as Runtime, createCodemodeRuntime, DynamicWorkerExecutor } from '@cloudflare/codemode';
import { DurableObject } from 'cloudflare:workers';
import { makeTools, programs, untilApproval } from '../programs.mjs';
import { check, neutral } from '../workloads.mjs';

/** Its runtime, which can also be filled: 10,000 executions with 100 calls each, every tenth of them paused before its last. */
export class CodemodeRuntime extends Runtime {
  fill(count, calls) {
    const { sql } = this.ctx.storage;
    const numbers = 'WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ?)';
    sql.exec(
      `${numbers} INSERT INTO cm_executions(id, code, status, result, created_at, updated_at)
      SELECT 'exec_' || printf('%016d', n), 'async () => 1', CASE WHEN n % 10 = 9 THEN 'paused' ELSE 'completed' END,
        CASE WHEN n % 10 = 9 THEN NULL ELSE '{"done":true}' END, 1700000000000 + n, 1700000000000 + n FROM i`,
      count - 1,
    );
    sql.exec(
      `${numbers} INSERT INTO cm_log(execution_id, seq, connector, method, args, result, requires_approval, state)
      SELECT id, n, 'bench', CASE WHEN w THEN 'ask' ELSE 'echo' END, '{"page":' || n || '}',
        CASE WHEN w THEN NULL ELSE '[{"id":1,"name":"Ada Lovelace","mail":"ada@example.com"}]' END, w, CASE WHEN w THEN 'pending' ELSE 'applied' END
      FROM (SELECT id, n, status = 'paused' AND n = ? AS w FROM cm_executions, i)`,
      calls - 1,
      calls - 1,
    );
  }
}

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

/** What is asked of a large store, by its own functions. */
async function large(ctx, runtime) {
  const [count, calls] = [10000, 100];
  await ctx.facets.get('codemode:large', () => ({ class: ctx.exports.CodemodeRuntime })).fill(count, calls);
  const rows = [];
  const row = async (what, times, work, expected) => {
    const samples = [];
    for (let i = 0; i < times; i++) {
      const { ms, outcome } = await timed(() => work(i));
      samples.push(ms);
      check(Array.isArray(outcome) ? outcome.length : outcome, expected);
    }
    rows.push({ what, samples });
  };
  await row('list the newest 50', 10, () => runtime.executions(50), 50);
  await row('pending, all of them', 5, () => runtime.pending(), count / 10);
  await row('prune, 10 executions', 10, (i) => runtime.pruneExecutions((count * 9) / 10 - 10 * (i + 1)), 10);
  return { rows };
}

export class Host extends DurableObject {
  #make = (options) =>
    createCodemodeRuntime({
      ctx: this.ctx,
      executor: new DynamicWorkerExecutor({ loader: this.env.LOADER }),
      connectors: [new Bench(this.ctx, this.env)],
      ...options,
    });
  #runtime = this.#make({});

  async #run(code) {
    const outcome = await this.#runtime.execute({ code: fn(code) });
    if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome));
    return outcome.result;
  }

  async answer(request) {
    if (request.w === 'W11') return durable(this.#runtime, request);
    if (request.w === 'W12') return large(this.ctx, this.#make({ name: 'large', maxExecutions: 1e6 }));
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
