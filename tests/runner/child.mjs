// One child process in a process group of its own, with its output, a time limit, and nothing left behind.
import { spawn } from 'node:child_process';

const OUTPUT_MAX = 4_000_000; // characters kept of each stream; a test that floods does not take the runner down
const running = new Set();

function stopGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

export function stopAll() {
  running.forEach(stopGroup);
}

/** @returns {{status: number|null, signal: string|null, timedOut: boolean, stdout: string, both: string, ms: number}} */
export function runChild(command, args, { cwd, env, timeoutMs }) {
  return new Promise((done) => {
    const started = Date.now();
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const out = { stdout: '', both: '' };
    let timedOut = false;
    let exit = { status: null, signal: null };
    const keep = (name) => (text) => {
      if (name && out[name].length < OUTPUT_MAX) out[name] += text;
      if (out.both.length < OUTPUT_MAX) out.both += text;
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stopGroup(child.pid);
    }, timeoutMs);
    const finish = () => {
      clearTimeout(timer);
      running.delete(child.pid);
      done({ ...exit, ...out, timedOut, ms: Date.now() - started });
    };
    if (child.pid) running.add(child.pid);
    child.stdout.setEncoding('utf8').on('data', keep('stdout'));
    child.stderr.setEncoding('utf8').on('data', keep());
    child.on('error', (e) => {
      out.both += `${command}: ${e.message}\n`;
      if (!child.pid) finish();
    });
    child.on('exit', (status, signal) => {
      exit = { status, signal };
      stopGroup(child.pid); // What the test left running would hold the pipes open, and the machine busy.
    });
    child.on('close', finish);
  });
}

/** How a child ended, in words; empty when it ended well. */
export function howItEnded(r, timeoutMs) {
  if (r.timedOut) return `did not end within ${timeoutMs / 1000} s`;
  if (r.signal) return `ended by ${r.signal}`;
  if (r.status !== 0) return r.status === null ? 'could not be started' : `ended with status ${r.status}`;
  return '';
}
