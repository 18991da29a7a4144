// What every subject runs: the bodies of async functions with one connector, `bench`. bench/workloads.c has the same for codemode.
const answered = (code, answer) => ({ code, answer });

export const programs = {
  W1: answered('return 1 + 1', 2),
  W2: answered('return (await bench.echo({ n: 1 })).n', 1),
  W3: answered('let sum = 0; for (let i = 0; i < 100; i++) sum += (await bench.echo({ n: i })).n; return sum', 4950),
  W4: answered(
    `const all = await Promise.all(Array.from({ length: 100 }, (_, i) => bench.echo({ n: i })));
    return all.reduce((sum, r) => sum + r.n, 0)`,
    4950,
  ),
  W5: answered(
    'const rows = await bench.rows({}); return rows.filter((r) => r.id % 1000 === 7).map((r) => r.id)',
    [7, 1007, 2007, 3007, 4007, 5007, 6007, 7007, 8007, 9007],
  ),
  'W6 fib': answered('function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } return fib(27)', 196418),
  'W6 sort': answered(
    `const list = Array.from({ length: 100000 }, (_, i) => ({ id: (i * 7919) % 100003, name: 'item ' + i }));
    list.sort((a, b) => a.id - b.id); return JSON.parse(JSON.stringify(list)).length`,
    100000,
  ),
  'W6 loop': answered('let sum = 0; for (let i = 0; i < 10000000; i++) sum += i; return sum', 49999995000000),
  W7: answered('while (true) {}', undefined),
  W9: answered('return await bench.hold({})', 1),
};

/** For the log: 100 calls that have effects; and so many entries, of which the last waits for approval. */
programs['W3 effects'] = { ...programs.W3, code: programs.W3.code.replace('bench.echo', 'bench.put') };
export const untilApproval = (entries) =>
  answered(`let sum = 0; for (let i = 0; i < ${entries - 1}; i++) sum += (await bench.echo({ n: 1 })).n; return sum + (await bench.ask({ n: 1 })).n`, entries);

/** One megabyte of JSON as the service that `bench.rows` stands for would send it: 10,000 rows. */
export const rowsText = () =>
  JSON.stringify(
    Array.from({ length: 10000 }, (_, i) => {
      const five = String(i).padStart(5, '0');
      return { id: i, name: `customer ${five}`, mail: `customer.${five}@example.com`, city: `Town ${String(i % 997).padStart(3, '0')}`, total: i * 3 + 0.5 };
    }),
  );

/**
 * The host's functions. `rows` gives text where the peer's user would pass text on, and what it says where values cross. What `hold`
 * was asked is answered by release().
 */
export function makeTools({ rowsAsText }) {
  const text = rowsText();
  const held = [];
  const tools = {
    echo: async (args) => args,
    rows: async () => (rowsAsText ? text : JSON.parse(text)),
    hold: () => new Promise((answer) => held.push(answer)),
  };
  return { tools, held: () => held.length, release: () => held.splice(0).forEach((answer) => answer(1)) };
}
