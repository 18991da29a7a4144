// workerd with the host's Worker, listening on a socket in a temporary folder, its durable objects on the disk there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const program = require.resolve(`@cloudflare/workerd-linux-${arch() === 'x64' ? '64' : arch()}/bin/workerd`);

const config = (folder) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "${folder}/state", writable = true)),
  ],
  sockets = [(name = "http", address = "unix:${folder}/socket", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat", "experimental"],
  bindings = [
    (name = "LOADER", workerLoader = ()),
    (name = "HOST", durableObjectNamespace = "Host"),
  ],
  durableObjectNamespaces = [
    (className = "Host", uniqueKey = "host", enableSql = true),
    (className = "CodemodeRuntime", uniqueKey = "runtime", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "disk"),
);
`;

async function bundle(folder) {
  const { build } = await import('esbuild'); // of the workspace, which bundles the sandbox's prelude with it
  await build({
    entryPoints: [fileURLToPath(new URL('worker.mjs', import.meta.url))],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'esnext',
    external: ['cloudflare:*', 'node:*'],
    logLevel: 'error',
  });
}

export async function startWorkerd() {
  const folder = mkdtempSync(join(tmpdir(), 'cm-bench-'));
  mkdirSync(join(folder, 'state'));
  writeFileSync(join(folder, 'config.capnp'), config(folder));
  await bundle(folder);
  const child = spawn(program, ['serve', '--experimental', '--control-fd=3', join(folder, 'config.capnp')], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  const event = once(createInterface({ input: child.stdio[3] }), 'line');
  if (await Promise.race([gone.then(() => true), event.then(() => false)])) throw new Error('workerd did not start');

  const ask = (message) =>
    new Promise((resolve, reject) => {
      const out = request({ socketPath: join(folder, 'socket'), method: 'POST', path: '/' }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text))).on('error', reject);
      });
      out.on('error', reject).end(JSON.stringify(message));
    });
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  return { pid: child.pid, gone, ask, end };
}
