// An MCP server that breaks one rule at a time. `node rude.mjs MODE`: a mode of `starts` says how the handshake goes wrong, "tools"
// answers it well and then has one tool for each way to misbehave.
import { closeSync, readFile } from 'node:fs';
import { createInterface } from 'node:readline';

const mode = process.argv[2] ?? 'tools';
const write = (text) => process.stdout.write(text);
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const tool = (name, rest = {}) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' }, ...rest });
const never = () => {};
const later = new Map(); // ids of our own requests -> what to do with the answer

const tools = {
  plain: () => text('fine'),
  hang: never,
  die: () => { process.stderr.write('Error: out of luck\n    at die (rude.mjs)\n'); process.exit(7); },
  killed: () => { process.kill(process.pid, 'SIGKILL'); },
  deaf: (args, id) => { process.stdin.destroy(); closeSync(0); send({ id, result: text('deaf now') }); setInterval(never, 1e6); },
  wrong_ids: (args, id) => {
    for (const other of [id + 1000, 'x', null, -1, 0, 1.5]) send({ id: other, result: text('not yours') });
    return text('yours');
  },
  text_id: (args, id) => { send({ id: String(id), result: text('id as text') }); return text('id as number'); },
  twice: (args, id) => { send({ id, result: text('first') }); return text('second'); },
  nothing: (args, id) => send({ id }),
  not_an_object: (args, id) => send({ id, result: 'just text' }),
  both: (args, id) => send({ id, result: text('yes'), error: { code: -1, message: 'no' } }),
  protocol_error: (args, id) => send({ id, error: { code: -32602, message: 'Unknown colour: blue', data: { known: ['red'] } } }),
  odd_error: (args, id) => send({ id, error: { code: 'E_ODD', message: 42 } }),
  is_error: () => ({ isError: true, content: [{ type: 'text', text: 'disk' }, { type: 'text', text: 'full' }], structuredContent: { free: 0 } }),
  empty_error: () => ({ isError: true, content: [] }),
  batch: (args, id) => { write(JSON.stringify([{ jsonrpc: '2.0', id, result: text('in a batch') }]) + '\n'); return text('alone'); },
  no_version: (args, id) => { write(JSON.stringify({ id, result: text('no version') }) + '\n'); return text('with version'); },
  crlf: (args, id) => write(`\r\n\n  \r\n${JSON.stringify({ jsonrpc: '2.0', id, result: text('crlf') })}\r\n`),
  latin1: (args, id) => process.stdout.write(Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"caf\xe9"}]}}\n`, 'latin1')),
  surrogate: (args, id) => write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"\\ud83d!"}]}}\n`),
  slow_bytes: (args, id) => {
    const bytes = [...Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: text('ä by byte') }) + '\n')];
    const next = () => bytes.length && process.stdout.write(Buffer.from([bytes.shift()]), () => setImmediate(next));
    next();
  },
  garbage: (args, id) => { write('INFO starting\u001b[31m\n{"level":30,"msg":"json log"}\n[1,2]\n42\n'); return text('after garbage'); },
  garbage_flood: () => { for (let i = 0; i < 20000; i++) write('again and again\n'); },
  stderr_flood: () => { for (let i = 0; i < 2000; i++) process.stderr.write('noise '.repeat(100) + '\n'); return text('loud'); },
  huge_line: (args, id) => {
    const chunk = 'x'.repeat(1 << 20);
    write(`{"result":{"content":[{"type":"text","text":"`);
    for (let i = 0; i < 66; i++) write(chunk);
    write(`"}]},"jsonrpc":"2.0","id":${id}}\n`);
  },
  deep: (args, id) => write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}}\n`),
  env: () => text(JSON.stringify(process.env)),
  secret: () => text(`the key is ${process.env.RUDE_SECRET}`),
  secret_error: (args, id) => send({ id, error: { code: 1, message: `bad key ${process.env.RUDE_SECRET}` } }),
  asks: (args, id) => {
    const asked = ['ping', 'sampling/createMessage', 'elicitation/create', 'roots/list'];
    const answers = {};
    asked.forEach((method, i) => {
      later.set(`q${i}`, (message) => {
        answers[method] = message.error?.code ?? message.result;
        if (Object.keys(answers).length === asked.length) send({ id, result: text(JSON.stringify(answers)) });
      });
      send({ id: `q${i}`, method, params: {} });
    });
  },
  chatty: (args, id) => {
    send({ method: 'notifications/message', params: { level: 'info', data: 'log' } });
    send({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    send({ method: 'notifications/unknown' });
    return text('chatty');
  },
  grow: () => {
    listed.push(tool('grown'));
    tools.grown = () => text('I am new');
    send({ method: 'notifications/tools/list_changed' });
    send({ method: 'notifications/tools/list_changed' });
    return text('grew');
  },
  shrink_badly: (args, id) => {
    listBroken = true;
    send({ method: 'notifications/tools/list_changed' });
    return text('broke the list');
  },
  cancelled: () => text(JSON.stringify(cancelled)),
};
const cancelled = [];
let listBroken = false;

// Some of what stands in the list cannot become a method.
const listed = [
  ...Object.keys(tools).map((name) => tool(name)),
  tool('get-profile', { annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: true } }),
  tool('get_profile'),
  tool('plain'),
  tool('wipe', { annotations: { readOnlyHint: false, destructiveHint: true }, description: undefined, title: 'Wipe it' }),
  tool('typed', { inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'number' } } }, outputSchema: 'text' }),
  tool('bad_schema', { inputSchema: 'object' }),
  tool('task_only', { execution: { taskSupport: 'required' } }),
  tool('n'.repeat(300)),
  tool('nul\u0000name'),
  { description: 'no name' },
  tool(''),
  'a string',
  null,
];
tools['get-profile'] = () => text('sent as get-profile');
tools.get_profile = () => text('sent as get_profile');
tools.wipe = tools.typed = tools.plain;

const initialized = (version = '2025-11-25') => ({
  protocolVersion: version, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'rude', version: '0' }, instructions: 'Be kind.',
});

const starts = {
  tools: {},
  old: { initialize: () => initialized('2024-11-05') },
  silent: { initialize: never },
  silent_list: { list: never },
  // Answers when somebody has opened the other end of the pipe named on the command line.
  late: { initialize: (id) => readFile(process.argv[3], () => send({ id, result: initialized() })) },
  prints_and_hangs: { begin: () => write('Hello\n'), initialize: never },
  prints_and_goes: { begin: () => { write('Usage: rude [OPTIONS]\n'); process.stderr.write('bad option --stdio\n'); process.exitCode = 3; process.stdin.destroy(); } },
  crash: { begin: () => { throw new Error('cannot find module "luck"'); } },
  says_secret: { begin: () => { process.stderr.write(`token ${process.env.RUDE_SECRET} is not valid\n`); process.exit(1); } },
  yes: { begin: function forever() { write('y\n'.repeat(50)); setImmediate(forever); }, initialize: never },
  new_version: { initialize: () => initialized('2031-01-01') },
  no_version: { initialize: () => ({ capabilities: {} }) },
  refuses: { initialize: (id) => send({ id, error: { code: -32000, message: 'no licence' } }) },
  no_tools: { initialize: () => ({ ...initialized(), capabilities: {} }), list: () => process.exit(9) },
  log_first: { begin: () => write('rude listening on stdio\n') },
  bad_list: { list: () => ({ tools: 'none' }) },
  refuses_list: { list: (id) => send({ id, error: { code: -32603, message: 'database is gone' } }) },
  same_cursor: { list: () => ({ tools: [tool('a')], nextCursor: 'again' }) },
  two_cursors: { list: (id, params) => ({ tools: [tool(`t${id}`)], nextCursor: params?.cursor === 'one' ? 'two' : 'one' }) },
  endless_pages: { list: (id) => ({ tools: [tool(`t${id}`)], nextCursor: `c${id}` }) },
  pages: { list: (id, params) => {
    const page = Number(params?.cursor ?? 0);
    return { tools: [tool(`page${page}`)], nextCursor: page < 4 ? String(page + 1) : undefined };
  } },
  too_many_tools: { list: () => ({ tools: Array.from({ length: 20001 }, (_, i) => tool(`t${i}`)) }) },
  exits_in_list: { list: () => process.exit(4) },
};

const start = starts[mode];
if (!start) throw new Error(`rude.mjs: no mode '${mode}'; there are ${Object.keys(starts).join(', ')}`);

const answer = (id, result) => { if (result !== undefined) send({ id, result }); };

const methods = {
  initialize: (id) => answer(id, (start.initialize ?? initialized.bind(null, undefined))(id)),
  'tools/list': (id, params) => {
    if (listBroken) return send({ id, error: { code: -32603, message: 'not now' } });
    answer(id, start.list ? start.list(id, params) : { tools: listed });
  },
  'tools/call': (id, params) => {
    const run = tools[params.name];
    if (!run) return send({ id, error: { code: -32602, message: `Unknown tool: ${params.name}` } });
    const result = run(params.arguments, id);
    if (typeof result === 'object') send({ id, result });
  },
  'notifications/cancelled': (id, params) => cancelled.push(params),
  'notifications/initialized': never,
};

start.begin?.();
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method) methods[message.method]?.(message.id, message.params);
  else later.get(message.id)?.(message);
});
