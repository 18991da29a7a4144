// The processes that are measured: each speaks the line protocol of docs/benchmarks.md on its standard input and output.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rssMb, tree } from './peers/memory.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const peers = join(here, 'peers');
const PATIENCE_MS = 120000; // for an answer
const END_MS = 5000; // for its end

/** The Node that the peers need, which comes with them; {reason} when they cannot be had. */
export function setUpPeers() {
  const lock = readFileSync(join(peers, 'package-lock.json'), 'utf8');
  const stamp = join(peers, 'node_modules/.bench-setup');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    console.log('bench: npm ci (peers)');
    const r = spawnSync('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: peers, encoding: 'utf8' });
    if (r.status !== 0) return { reason: `npm ci in bench/peers: ${(r.error?.message ?? r.stderr).split('\n').find((l) => /\w/.test(l) && !/npm error (code|errno|syscall)\b/.test(l))}` };
    writeFileSync(stamp, lock);
  }
  const node = join(peers, `node_modules/node-linux-${process.arch}/bin/node`);
  return existsSync(node) ? { node } : { reason: `the peers bring no Node for ${process.arch}` };
}

/** CPU time of a process and all that descends from it: of the threads that are there, and of the children that are gone. In ms. */
function cpuMs(pid) {
  let ns = 0;
  let ticks = 0;
  for (const p of tree(pid)) {
    try {
      for (const task of readdirSync(`/proc/${p}/task`)) ns += Number(readFileSync(`/proc/${p}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      const stat = readFileSync(`/proc/${p}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ticks += Number(fields[13]) + Number(fields[14]);
    } catch {
      // it has ended meanwhile
    }
  }
  return ns / 1e6 + ticks * 10;
}

/** What it has started goes with it. */
function killTree({ pid }) {
  for (const p of tree(pid)) {
    try {
      process.kill(p, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
}

const alive = new Set();
process.on('exit', () => alive.forEach(killTree));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** A driver is started when it is first asked, and again when it has died. */
export class Driver {
  #command;
  #env;
  #child;
  #answers = [];
  #stderr = '';

  constructor({ command, env = {} }) {
    this.#command = command;
    this.#env = env;
  }

  async #start() {
    const [program, ...args] = this.#command;
    const child = spawn(program, args, { env: { ...process.env, ...this.#env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    alive.add(child);
    this.#stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (this.#stderr = (this.#stderr + text).slice(-2000)));
    child.stdin.on('error', () => {}); // told by its end
    createInterface({ input: child.stdout }).on('line', (line) => this.#answers.shift()?.(JSON.parse(line)));
    const over = (reason) => {
      alive.delete(child);
      if (this.#child === child) this.#child = undefined;
      for (const answer of this.#answers.splice(0)) answer({ died: reason });
    };
    child.on('error', (e) => over(e.message));
    this.gone = new Promise((tell) => child.on('exit', (code, signal) => tell(over(signal ?? `status ${code}`))));
    const hello = await this.#answer();
    if (!hello.hello) throw new Error(`${this.#command.join(' ')}: ${hello.died}\n${this.#stderr}`);
    this.hello = hello.hello;
  }

  #answer() {
    const child = this.#child;
    return new Promise((resolve) => {
      const late = setTimeout(() => killTree(child), PATIENCE_MS);
      this.#answers.push((message) => {
        clearTimeout(late);
        resolve(message);
      });
    });
  }

  get pid() {
    return this.#child?.pid;
  }

  async start() {
    if (!this.#child) await this.#start();
  }

  /** Ends it when it has grown by so much, which is why, or takes longer. The function that is returned ends the watch, and tells what it did. */
  #guard({ mb, ms, why }) {
    const child = this.#child;
    const most = rssMb(child.pid) + mb;
    const since = performance.now();
    let said;
    const timer = setInterval(() => {
      try {
        if (rssMb(child.pid) > most) said = why;
        else if (performance.now() - since > ms) said = `killed after ${ms / 1000} s`;
      } catch {
        return; // it has ended
      }
      if (said) killTree(child);
    }, 5);
    return () => clearInterval(timer) ?? said;
  }

  /** What it answers; {died} when it ends instead, of itself or by the guard {mb, ms, why}. */
  async ask(request, guard) {
    await this.start();
    const { pid } = this.#child;
    const guarded = guard && this.#guard(guard);
    const before = cpuMs(pid);
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const answer = await this.#answer();
    const killed = guarded?.();
    if (killed) return { died: killed };
    if (answer.error) throw new Error(`${this.#command.join(' ')}: ${request.w}: ${answer.error}`);
    return answer.died ? { ...answer, stderr: this.#stderr } : { ...answer, cpuMs: cpuMs(pid) - before };
  }

  async end() {
    const child = this.#child;
    if (!child) return;
    child.stdin.end();
    const late = setTimeout(() => killTree(child), END_MS);
    await this.gone;
    clearTimeout(late);
  }
}

const ofBuild = (folder) => ({ command: [join(folder, 'bench/driver')], env: { CODEMODE_WORKER: join(folder, 'src/worker/codemode-worker') } });
const libraries = ['isolated-vm', 'quickjs', 'run', 'vm'];

/**
 * How each is started: {drivers: Map of name to what Driver takes, left: [{name, reason}] that cannot be}. Names: codemode, other (another
 * build), reference, and those of the libraries; of those that are not ours `only` keeps what it names.
 */
export function findDrivers({ build, base, peers: setUp, only }) {
  const drivers = new Map();
  const left = [];
  const add = (name, how) => (existsSync(how.command[0]) ? drivers.set(name, how) : left.push({ name, reason: `there is no ${how.command[0]}` }));
  add('codemode', ofBuild(build));
  if (base) add('other', ofBuild(base));
  for (const name of [...libraries, 'reference'].filter((n) => !only || only.includes(n))) {
    const node = name === 'vm' ? (setUp.node ?? process.execPath) : setUp.node;
    if (node) drivers.set(name, { command: [node, '--no-warnings', join(peers, 'driver.mjs'), name] });
    else left.push({ name, reason: setUp.reason });
  }
  return { drivers, left };
}
