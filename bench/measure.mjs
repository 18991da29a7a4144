// Rounds: subjects that do the same work take turns.
import { shuffled } from './statistics.mjs';

const ROUNDS = 10;
const WARM_UPS = 10;
const SLOT_MS = 120; // what a subject gets of a round, so that a quick one is measured more often than a slow one
const MOST = 50;

const runsFor = (workload, subject, msOfOne) => Math.max(1, Math.min(subject.most ?? workload.most ?? MOST, Math.floor(SLOT_MS / msOfOne)));

const wall = async (work) => {
  const before = performance.now();
  const answer = await work();
  return { answer, ms: performance.now() - before };
};

/** One subject of one part, with what has been found of it. */
class Turn {
  constructor(workload, part, subject, context) {
    this.workload = workload;
    this.subject = subject;
    this.driver = context.drivers.get(subject.driver);
    this.opts = { ...part.opts, ...subject.opts };
    this.row = { subject: subject.name, samples: [], cpuMs: 0, runs: 0 };
  }

  async #ask(runs) {
    const answer = await this.driver.ask({ w: this.workload.name, runs, opts: this.opts }, this.workload.guard);
    if (answer.died) this.row = { subject: this.subject.name, skip: answer.died.startsWith('killed') ? answer.died : `the process died (${answer.died})`, stderr: answer.stderr };
    else if (answer.skip) this.row = { subject: this.subject.name, skip: answer.skip };
    return answer;
  }

  /** A peer that does not start is left out; codemode has to. */
  async #start() {
    try {
      await this.driver.start();
    } catch (e) {
      if (this.subject.driver === 'codemode') throw e;
      this.row = { subject: this.subject.name, skip: 'it does not start', stderr: e.message };
    }
    return !this.over;
  }

  get over() {
    return Boolean(this.row.skip);
  }

  /** Not counted; tells how many runs go into a round. */
  async warmUp(smoke) {
    if (!(await this.#start())) return;
    const { unit = 'ms' } = this.workload;
    if (smoke || unit === 'figures') return;
    if (unit === 'rate') return void (await this.#ask(1));
    const runs = this.subject.most ? 1 : (this.workload.warmUps ?? WARM_UPS);
    const { answer, ms } = await wall(() => this.#ask(Math.min(runs, 1)));
    if (answer.ms && ms < SLOT_MS && runs > 1) await this.#ask(runs - 1);
    if (this.over) return;
    const again = await wall(() => this.#ask(1));
    this.runs = runsFor(this.workload, this.subject, again.ms);
  }

  async round() {
    if (this.workload.fresh) await this.driver.end();
    const runs = this.runs ?? 1;
    const answer = await this.#ask(runs);
    if (this.over) return;
    const { row } = this;
    if (answer.ms) row.samples.push(...answer.ms);
    if (answer.perSecond) row.samples.push(answer.perSecond);
    row.cpuMs += answer.cpu ? (answer.cpu.host + answer.cpu.sandbox) * runs : answer.cpuMs;
    row.runs += runs;
    if (answer.figures) row.figures = { ...row.figures, ...answer.figures };
    if (answer.note) row.note = answer.note;
  }

  result() {
    const { row } = this;
    if (this.over) return row;
    const { samples, cpuMs, runs, ...rest } = row;
    if (samples.length === 0) return rest;
    return { ...rest, samples, cpuMs: this.workload.unit ? undefined : cpuMs / runs };
  }
}

export async function measurePart(workload, part, context) {
  const here = (part.subjects ?? workload.subjects).filter((s) => context.drivers.has(s.driver));
  const subjects = context.smoke ? here.filter((s, i) => here.findIndex((t) => t.driver === s.driver) === i) : here;
  const turns = subjects.map((s) => new Turn(workload, part, s, context));
  for (const turn of turns) await turn.warmUp(context.smoke);
  for (let i = 0; i < (context.rounds ?? workload.rounds ?? ROUNDS); i++) {
    for (const turn of shuffled(turns)) if (!turn.over) await turn.round();
  }
  if (workload.fresh) for (const turn of turns) await turn.driver.end();
  return turns.map((turn) => turn.result());
}

/** What the harness runs itself: one run a turn. */
export async function measureLocal(workload, context) {
  const subjects = await workload.local(context);
  const rows = new Map(subjects.map((s) => [s, { subject: s.name, samples: [] }]));
  try {
    for (let i = context.smoke ? 0 : -2; i < (context.rounds ?? workload.rounds ?? ROUNDS); i++) {
      for (const s of shuffled(subjects)) {
        const { ms } = await wall(() => s.run());
        await s.after?.();
        if (i >= 0) rows.get(s).samples.push(ms);
      }
    }
  } finally {
    for (const s of subjects) await s.end?.();
  }
  return [...rows.values()];
}
