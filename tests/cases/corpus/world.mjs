// The services that the programs of this folder call: a small CRM, a code host and a weather service, each an MCP server over
// standard input and output when this file is started with its name, and plain functions for the oracle. No state but what
// `weather.flaky` counts by its key.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const CONTACTS = [
  { id: 'c1', name: 'Ada Lovelace', email: 'ada@analytical.example', status: 'active', balance: 1200, tags: ['vip', 'math'], createdAt: '2025-03-01T09:00:00Z' },
  { id: 'c2', name: 'Grace Hopper', email: 'grace@navy.example', status: 'active', balance: 800, tags: ['navy'], createdAt: '2025-01-15T12:30:00Z' },
  { id: 'c3', name: 'Alan Turing', email: 'alan@bletchley.example', status: 'inactive', balance: 0, tags: [], createdAt: '2024-11-20T08:00:00Z' },
  { id: 'c4', name: 'Katherine Johnson', email: 'katherine@nasa.example', status: 'active', balance: 4300.5, tags: ['vip'], createdAt: '2025-06-30T23:59:59Z' },
  { id: 'c5', name: 'Émilie du Châtelet', email: 'emilie@cirey.example', status: 'lead', balance: null, tags: ['physics'], createdAt: '2025-02-28T00:00:00Z' },
];
const ISSUES = [
  { number: 1, title: 'Crash on empty input', state: 'open', labels: ['bug'], author: 'ada', comments: 4, createdAt: '2025-05-01T10:00:00Z' },
  { number: 2, title: 'Document the flags', state: 'open', labels: ['docs', 'good first issue'], author: 'grace', comments: 0, createdAt: '2025-05-03T10:00:00Z' },
  { number: 3, title: 'Slow start', state: 'closed', labels: ['bug', 'performance'], author: 'alan', comments: 12, createdAt: '2025-04-11T10:00:00Z' },
  { number: 4, title: 'Dark mode', state: 'open', labels: [], author: 'ada', comments: 7, createdAt: '2025-05-20T10:00:00Z' },
];
const WEATHER = { Berlin: [18.5, 'cloudy'], Lisbon: [27, 'sunny'], Oslo: [9, 'rain'], Reykjavík: [4, 'wind'] };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const data = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });
const text = (...parts) => ({ content: parts.map((t) => ({ type: 'text', text: t })) });
const failed = (message) => ({ ...text(message), isError: true });

const string = { type: 'string' }, integer = { type: 'integer' };
const object = (properties, required = []) => ({ type: 'object', properties, required, additionalProperties: false });
const contact = { type: 'object', properties: { id: string, name: string, email: string, status: string, balance: { type: ['number', 'null'] }, tags: { type: 'array', items: string }, createdAt: string } };

const find = (id) => CONTACTS.find((c) => c.id === id);
const attempts = new Map();

const ODD = {
  nothing: { content: [] },
  null: text('null'),
  number: text('42'),
  'looks like a number': text('007'),
  boolean: text('true'),
  array: text('[1,[2],{"three":3}]'),
  'two texts': text('one', 'two'),
  'broken json': text('{"a": 1,'),
  big: text('{"id":9007199254740993,"small":5}'),
  proto: text('{"__proto__":{"admin":true},"constructor":"c","a":1}'),
  unicode: text('naïve – 日本 – 👩‍🚀'),
  marks: data({ $bytes: 'aGk=', $map: [[1, 2]], __codemode_control__: 'pause' }),
  then: data({ then: 'later', length: 3 }),
};

export const WORLD = {
  crm: {
    list_contacts: {
      description: 'List contacts, page by page.', readOnly: true,
      input: object({ page: { ...integer, minimum: 1, description: 'from 1' }, pageSize: { ...integer, minimum: 1, maximum: 100 }, status: { type: 'string', enum: ['active', 'inactive', 'lead'] } }),
      output: { type: 'object', properties: { items: { type: 'array', items: contact }, page: integer, total: integer, nextPage: { type: ['integer', 'null'] } } },
      run({ page = 1, pageSize = 2, status }) {
        const all = CONTACTS.filter((c) => !status || c.status === status), end = page * pageSize;
        return data({ items: all.slice(end - pageSize, end), page, total: all.length, nextPage: end < all.length ? page + 1 : null });
      },
    },
    get_contact: {
      description: 'One contact by its id.', readOnly: true, input: object({ id: string }, ['id']), output: contact,
      run: ({ id }) => (find(id) ? data(find(id)) : failed(`Contact ${id} not found`)),
    },
    create_contact: {
      description: 'Create a contact.',
      input: object({ name: string, email: { ...string, format: 'email' }, tags: { type: 'array', items: string } }, ['name', 'email']), output: contact,
      run: ({ name, email, tags = [] }) => data({ id: 'c6', name, email, status: 'lead', balance: null, tags, createdAt: '2025-07-01T00:00:00Z' }),
    },
    update_contact: {
      description: 'Change fields of a contact.',
      input: object({ id: string, fields: object({ status: { type: 'string', enum: ['active', 'inactive', 'lead'] }, balance: { type: 'number' } }) }, ['id', 'fields']), output: contact,
      run: ({ id, fields }) => (find(id) ? data({ ...find(id), ...fields }) : failed(`Contact ${id} not found`)),
    },
    delete_contact: {
      description: 'Delete a contact for good.', input: object({ id: string }, ['id']),
      run: ({ id }) => text(`Deleted ${id}.`),
    },
    add_note: {
      description: 'Add a note to a contact; answers with a sentence.', input: object({ contactId: string, text: string }, ['contactId', 'text']),
      run: ({ contactId, text: note }) => text(`Noted ${note.length} characters for ${contactId}.`),
    },
    export_csv: {
      description: 'All contacts as CSV text.', readOnly: true, input: object({}),
      run: () => text(['id,name,balance', ...CONTACTS.map((c) => `${c.id},${c.name},${c.balance ?? ''}`)].join('\n')),
    },
    get_avatar: {
      description: 'The picture of a contact.', readOnly: true, input: object({ id: string }, ['id']),
      run: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
    },
  },
  github: {
    list_issues: {
      description: 'Issues of a repository.', readOnly: true,
      input: object({ repo: { ...string, description: 'owner/name' }, state: { type: 'string', enum: ['open', 'closed', 'all'] }, labels: { type: 'array', items: string } }, ['repo']),
      run: ({ repo, state = 'open', labels = [] }) => (repo === 'acme/app'
        ? text(JSON.stringify(ISSUES.filter((i) => (state === 'all' || i.state === state) && labels.every((l) => i.labels.includes(l)))))
        : failed(`Repository ${repo} not found (404)`)),
    },
    get_issue: {
      description: 'One issue.', readOnly: true, input: object({ repo: string, number: integer }, ['repo', 'number']),
      run({ number }) {
        const issue = ISSUES.find((i) => i.number === number);
        return issue ? data(issue) : failed(`Issue #${number} does not exist`);
      },
    },
    create_issue: {
      description: 'Open an issue.', input: object({ repo: string, title: string, body: string, labels: { type: 'array', items: string } }, ['repo', 'title']),
      run: ({ repo, title, labels = [] }) => data({ number: 101, title, labels, url: `https://git.example/${repo}/issues/101` }),
    },
    'add-comment': {
      description: 'Comment on an issue.', input: object({ repo: string, number: integer, body: string }, ['repo', 'number', 'body']),
      run: ({ number, body }) => data({ id: number * 1000, body }),
    },
    search_code: {
      description: 'Search code.', readOnly: true, input: object({ query: string, limit: integer }, ['query']),
      run: ({ query, limit = 2 }) => data({ total_count: 3, items: [1, 2, 3].slice(0, limit).map((n) => ({ path: `src/${query}${n}.c`, score: n / 4 })) }),
    },
    merge: { description: 'Merge a branch.', input: object({ branch: string }), run: () => failed('') },
    rate_limited: { description: 'A method that is always limited.', readOnly: true, input: object({}), run: () => failed('API rate limit exceeded; retry after 60 s') },
  },
  weather: {
    current: {
      description: 'The weather now.', readOnly: true,
      input: object({ city: string, units: { type: 'string', enum: ['metric', 'imperial'] } }, ['city']),
      run({ city, units = 'metric' }) {
        if (!WEATHER[city])
          return failed(`Unknown city: ${city}`);
        const [celsius, condition] = WEATHER[city];
        return data({ city, temperature: units === 'metric' ? celsius : celsius * 1.8 + 32, condition });
      },
    },
    forecast: {
      description: 'The next days.', readOnly: true, input: object({ city: string, days: { ...integer, minimum: 1, maximum: 7 } }, ['city', 'days']),
      run: ({ days }) => text(JSON.stringify(Array.from({ length: days }, (_, i) => ({ date: `2025-07-0${i + 1}`, high: 20 + i, low: 10 - i })))),
    },
    flaky: {
      description: 'Fails a number of times for a key, then works.', readOnly: true, input: object({ key: string, failures: integer }, ['key', 'failures']),
      run({ key, failures }) {
        const attempt = (attempts.get(key) ?? 0) + 1;
        attempts.set(key, attempt);
        return attempt <= failures ? failed(`503 Service Unavailable (attempt ${attempt})`) : data({ ok: true, attempt });
      },
    },
    odd: {
      description: 'Answers that are unusual.', readOnly: true, input: object({ kind: { type: 'string', enum: Object.keys(ODD) } }, ['kind']),
      run: ({ kind }) => ODD[kind],
    },
  },
};

const identifier = (name) => name.replace(/[^A-Za-z0-9_$]/g, '_');

/** What a program gets: data where there is some, JSON objects and arrays of one text, texts; a failure throws its text. */
function unwrap(result) {
  const [first] = result.content;
  if (result.isError)
    throw new Error(first.text);
  if (result.structuredContent)
    return result.structuredContent;
  if (result.content.length === 1 && first.type === 'text' && /^\s*[[{]/.test(first.text))
    return JSON.parse(first.text);
  return first?.text;
}

/** Connectors as plain objects, for running a program without codemode. `called` gets [path, args] of each call. */
export function plainWorld(called = () => {}) {
  const method = (connector, name, tool) => async (args) => {
    called(`${connector}.${identifier(name)}`, args);
    return structuredClone(unwrap(tool.run(structuredClone(args ?? {}))));
  };
  return Object.fromEntries(Object.entries(WORLD).map(([connector, tools]) => [connector,
    Object.fromEntries(Object.entries(tools).map(([name, tool]) => [identifier(name), method(connector, name, tool)]))]));
}

function answer(tools, { method, params }) {
  if (method === 'initialize')
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'world', version: '1.0.0' } };
  if (method === 'tools/list')
    return { tools: Object.entries(tools).map(([name, t]) => ({ name, description: t.description, inputSchema: t.input,
      ...(t.output && { outputSchema: t.output }), ...(t.readOnly && { annotations: { readOnlyHint: true } }) })) };
  return method === 'tools/call' ? tools[params.name].run(params.arguments ?? {}) : {};
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tools = WORLD[process.argv[2]];
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined && message.method)
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(tools, message) }) + '\n');
  });
}
