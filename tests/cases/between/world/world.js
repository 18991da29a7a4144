// What a program finds, as a table: for each global name a number made of everything that is reached through it first - own keys in
// their order, descriptors, prototypes, the text of functions - and then what the world does: clock, randomness, locale, statics, order
// of events. Two worlds are the same where the tables are.
const { apply, getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;
const functionText = Function.prototype.toString, symbolText = Symbol.prototype.toString;
const table = {};
const ids = new Map();
let hash = 0, n = 0, queue = [];

function add(text) {
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
}

function see(value) {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function')
    return add(typeof value === 'symbol' ? apply(symbolText, value, []) : `${typeof value} ${value}`);
  if (!ids.has(value)) {
    ids.set(value, ids.size);
    queue.push(value);
  }
  add('#' + ids.get(value));
}

function look(object) {
  n++;
  if (typeof object === 'function')
    add(apply(functionText, object, []));
  add(isExtensible(object) ? '+' : '-');
  see(getPrototypeOf(object));
  for (const key of ownKeys(object)) {
    const d = getOwnPropertyDescriptor(object, key);
    see(key);
    add(`${d.configurable}${d.enumerable}${d.writable}`);
    see(d.value);
    see(d.get);
    see(d.set);
  }
}

void Intl.DateTimeFormat;   // made at its first use
ids.set(globalThis, 0);
see(getPrototypeOf(globalThis));
for (const key of ownKeys(globalThis)) {
  hash = 0x811c9dc5;
  const d = getOwnPropertyDescriptor(globalThis, key);
  add(`${String(key)} ${d.configurable}${d.enumerable}${d.writable}`);
  see(d.value);
  see(d.get);
  see(d.set);
  while (queue.length > 0)
    look(queue.shift());
  table[String(key)] = (hash >>> 0).toString(36);
}
// What no global name leads to.
hash = 0x811c9dc5;
for (const value of [function* () {}, async function* () {}, async () => {}, [][Symbol.iterator](), new Map().entries(),
  new Set().values(), ''[Symbol.iterator](), ''.matchAll(/x/g), new Uint8Array(1), new Intl.Segmenter().segment(''), class {}, /x/,
  Object('x'), (function () { return arguments; })(), new Error('x'), Promise.resolve(), ((a) => a)`x`])
  see(value);
while (queue.length > 0)
  look(queue.shift());
table['(no name)'] = (hash >>> 0).toString(36);

const order = [];
setTimeout(() => order.push('timer'), 1);
queueMicrotask(() => order.push('microtask'));
const called = svc.world({}).then((v) => order.push(v));
await null;
order.push('await');
await called;
await new Promise((yes) => setTimeout(yes, 2));
table['(order)'] = order.join(' ');
table['(time)'] = [Date.now(), new Date().getTime(), performance.now(), new Date(0).getTimezoneOffset(), Date.parse('2020')].join();
table['(random)'] = [Math.random(), Math.random(), crypto.randomUUID()].join();
table['(locale)'] = JSON.stringify(Intl.DateTimeFormat().resolvedOptions()) + (1234.5).toLocaleString() + 'b'.localeCompare('a');
table['(statics)'] = [RegExp.$1, RegExp.$9, RegExp.lastMatch, RegExp.lastParen, RegExp.input, RegExp.leftContext, RegExp.rightContext,
  Error.stackTraceLimit].join();
table['(objects)'] = n;
return table;
