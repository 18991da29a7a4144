// What end-to-end tests share: running the program, a home of one's own, configurations, HTTP servers, MCP clients.
// Everything made with a test's context `t` is released when that test ends. Nothing here waits for time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = process.env.CODEMODE_ROOT ?? resolve(fileURLToPath(import.meta.url), '../../..');
export const BUILD = process.env.CODEMODE_BUILD ?? join(ROOT, 'build/default');
export const CODEMODE = process.env.CODEMODE ?? join(BUILD, 'src/cli/codemode');
export const WORKER = process.env.CODEMODE_WORKER ?? join(BUILD, 'src/worker/codemode-worker');
/** True in a build with AddressSanitizer, which excludes the memory limit and slows everything down. */
export const SANITIZED = (process.env.CODEMODE_SANITIZE ?? 'none') !== 'none';

/** The program of an npm package's server: [command, …args] to put into a configuration. */
export function npmServer(name, ...args) {
  return [process.execPath, join(ROOT, 'node_modules', name, 'dist/index.js'), ...args];
}

/** The path of a file under tests/cases. */
export const caseFile = (...path) => join(ROOT, 'tests/cases', ...path);

/** A scratch folder, removed after the test. */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'cm-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/**
 * A home with nothing in it.
 * @returns {{home: string, cwd: string, env: object, config(value, name?): string}}
 *   cwd: an empty working directory; env: for run(); config: writes a configuration into cwd and returns its path.
 */
export function privateHome(t) {
  const home = scratch(t);
  const cwd = join(home, 'work');
  const env = { HOME: home, CODEMODE_WORKER: WORKER };
  for (const kind of ['STATE', 'CONFIG', 'CACHE', 'DATA']) env[`XDG_${kind}_HOME`] = join(home, kind.toLowerCase());
  env.XDG_RUNTIME_DIR = join(home, 'run');
  for (const folder of [cwd, env.XDG_STATE_HOME, env.XDG_CONFIG_HOME]) mkdirSync(folder);
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const config = (value, name = 'codemode.json') => {
    const path = join(cwd, name);
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
    return path;
  };
  return { home, cwd, env, config };
}

/** The environment of a child: what a login has, the sanitizers' settings, and `env`; an undefined value removes one. */
export function environment(env = {}) {
  const kept = ['PATH', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'USER', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'CI'];
  const all = { CODEMODE_WORKER: WORKER };
  for (const name of kept) if (process.env[name] !== undefined) all[name] = process.env[name];
  Object.assign(all, env);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/**
 * Start a program (codemode unless `program` says otherwise); for tests that talk to it while it runs. With `t`, it is
 * killed when the test ends.
 */
export function start(args, { program = CODEMODE, env, cwd, t, stdio = 'pipe' } = {}) {
  const child = spawn(program, args, { env: environment(env), cwd, stdio });
  t?.after(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'));
  return child;
}

/**
 * Run a program to its end.
 * @param {string[]} args
 * @param {{stdin?: string|Buffer, env?: object, cwd?: string, program?: string, timeoutMs?: number, signal?: AbortSignal}} options
 *   env: added to environment(), most often privateHome(t).env; timeoutMs: after it the child is killed and run() throws.
 * @returns {Promise<{status: number|null, signal: string|null, stdout: string, stderr: string, json: any}>}
 *   json: standard output parsed, read on demand; throws with the output when it is not JSON.
 */
export async function run(args, { stdin = '', timeoutMs = 60_000, ...options } = {}) {
  const child = start(args, options);
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (out[name] += text));
  child.stdin.on('error', () => {}); // it may end without reading
  child.stdin.end(stdin);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  try {
    const [status, signal] = await once(child, 'close');
    if (timedOut) throw new Error(`${args.join(' ')}: not ended after ${timeoutMs} ms\n${out.stdout}\n${out.stderr}`);
    return withJson({ status, signal, ...out }, args);
  } finally {
    clearTimeout(timer);
  }
}

/** Adds `json`, which copying and comparing the result do not see. */
function withJson(result, args) {
  const get = () => {
    try {
      return JSON.parse(result.stdout);
    } catch (e) {
      throw new Error(`${args.join(' ')}: standard output is not JSON (${e.message}):\n${result.stdout}\n${result.stderr}`);
    }
  };
  return Object.defineProperty(result, 'json', { get });
}

/** Resolves with the match as soon as what a stream has said so far matches; rejects when it ends without. */
export function untilOutput(stream, pattern) {
  return new Promise((found, failed) => {
    let text = '';
    const look = (chunk) => {
      text += chunk;
      const m = pattern.exec(text);
      if (!m) return;
      stream.off('data', look).off('end', ended);
      stream.resume();
      found(m);
    };
    const ended = () => failed(new Error(`ended without ${pattern}:\n${text}`));
    stream.setEncoding('utf8').on('data', look).on('end', ended);
  });
}

/**
 * A real HTTP server on a free port of the loopback interface.
 * @param handler  async ({method, path, query, headers, body, text, json}, response) → what to answer: undefined when it
 *   used `response` itself, a string, or {status, headers, body}; an object as body is sent as JSON. Throwing is a 500.
 * @returns {Promise<{url: string, port: number, requests: object[]}>}  requests: all so far, in order.
 */
export async function httpServer(t, handler) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    try {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const url = new URL(req.url, 'http://localhost');
      const request = {
        method: req.method, url: req.url, path: url.pathname, query: url.searchParams, headers: req.headers, body,
        get text() { return body.toString('utf8'); },
        get json() { return JSON.parse(body.toString('utf8')); },
      };
      requests.push(request);
      const answer = await handler(request, res);
      if (answer !== undefined) send(res, answer);
    } catch (e) {
      if (!res.headersSent) res.writeHead(500, { 'content-type': 'text/plain' });
      res.end(String(e.stack ?? e));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

function send(res, answer) {
  const { status = 200, headers = {}, body = '' } = typeof answer === 'string' ? { body: answer } : answer;
  const plain = typeof body === 'string' || Buffer.isBuffer(body);
  res.writeHead(status, { 'content-type': plain ? 'text/plain' : 'application/json', ...headers });
  res.end(plain ? body : JSON.stringify(body));
}

/**
 * The official MCP client connected to `codemode serve` over standard input and output.
 * @param {{args?: string[], env?: object, cwd?: string, client?: object, setup?(client): void}} options  args: after `serve`;
 *   client: the capabilities it announces; setup: called before connecting, to set request handlers.
 * @returns {Promise<{client, transport, stderr(): string}>}
 */
export async function mcpClient(t, { args = [], env, cwd, client: capabilities = {}, setup } = {}) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client({ name: 'codemode-tests', version: '1.0.0' }, { capabilities });
  const transport = new StdioClientTransport({ command: CODEMODE, args: ['serve', ...args], env: environment(env), cwd, stderr: 'pipe' });
  let stderr = '';
  transport.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  t.after(() => client.close());
  setup?.(client);
  try {
    await client.connect(transport);
  } catch (e) {
    throw new Error(`codemode serve: ${e.message}\n${stderr}`, { cause: e });
  }
  return { client, transport, stderr: () => stderr };
}

/** The official MCP client connected to a streamable HTTP endpoint. */
export async function mcpHttpClient(t, url, { headers = {}, client: capabilities = {}, setup } = {}) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'codemode-tests', version: '1.0.0' }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  t.after(() => client.close());
  setup?.(client);
  await client.connect(transport);
  return { client, transport };
}
