// Texts as models write them, and worse: programs put together from what a program may have, programs of the test cases cut and
// spliced, fences and prose around them, and what would close a wrapper.
import { programs } from './seeds.mjs';

// What has a meaning for whoever takes a program out of a text.
const PIECES = [
  '```', '````', '~~~', '```js\n', '\n```', '```ts\n', '~~~js\n', '\n~~~\n', '#!/usr/bin/env node\n', '\ufeff', '\u2028', '\u2029', '\r\n', '\r',
  '\n', ' ', '\t', '\u00a0', '\0', '\ud800', '\udc00', '\u{1f600}', '-->', '<!--', '})', '})()', '}))', '})();\n', '(async () => {', '\n--> ', '/*', '*/', '//',
  ';', ';;', '{', '}', '(', ')', '[', ']', ',', '=>', '=', '`', '${', "'", '"', '\\', '/', '/x/g', '<', '>', '?', '?.', ':', '@', '#', '#x in y', '...', '**', '!',
  'async ', 'await ', 'return ', 'return', 'yield ', 'function ', 'function* ', 'class ', 'export ', 'export default ', 'export {', 'export * from "x"', 'import ',
  'import x from "codemode";', 'import { demo } from "demo";\n', 'import("x")', 'import.meta', 'new.target', 'this', 'super', 'arguments', 'eval', 'let ', 'const ',
  'var ', 'using ', 'await using ', 'if ', 'else ', 'for ', 'while ', 'do ', 'switch ', 'case 1:', 'default:', 'break', 'continue', 'throw ', 'try {', 'catch {',
  'finally {', 'with ', 'debugger', 'delete ', 'typeof ', 'void ', 'in ', 'instanceof ', 'of ', 'get ', 'set ', 'static ', 'label: ', "'use strict';", '"use strict"\n',
  ': number', ': any', ': string[]', ' as any', ' as const', ' satisfies T', '<T>', '<T,>', '!', 'interface A { b: number }\n', 'type T = { a: string };\n', 'enum E { A, B }\n',
  'const enum E { A = 1 }', 'declare const x: T;\n', 'namespace N { export const a = 1 }\n', 'abstract class A {}', 'private ', 'readonly ', 'public constructor(private a: T) {}',
  'import type { X } from "y";\n', 'export type { X };\n', '<div/>', '</div>', '<a b={1}>', 'Here is the program:\n\n', '\n\nIt returns the sum.\n', '1. First\n', '> quoted\n',
  '\u200b', 'main', 'run', 'input', 'demo.echo(1)', 'codemode.step("x", () => 1)', 'console.log(1)', '0x', '1n', '1_000', '.5', '09', '\\u0061', '\\u{61}', 'l\\u0065t ',
];

const NAMES = ['a', 'b', 'main', 'run', 'handler', 'x', 'input', 'demo', 'result', '$', '_', 'async', 'of', 'get', 'type', 'as', 'é'];

export function texts(choose) {
  const { below, chance, pick } = choose;
  const seeds = programs();
  const name = () => pick(NAMES);
  const type = (d) => (d <= 0 ? pick(['number', 'string', 'any', 'T', '"a"', 'unknown'])
    : pick([() => type(0), () => `${type(d - 1)}[]`, () => `{ ${name()}: ${type(d - 1)} }`, () => `Promise<${type(d - 1)}>`,
      () => `${type(d - 1)} | ${type(d - 1)}`, () => `(${name()}: ${type(d - 1)}) => ${type(d - 1)}`, () => `Array<${type(d - 1)}>`])());
  const annotation = () => (chance(1, 8) ? `: ${type(2)}` : '');
  const parameters = () => choose.list(() => pick([name, () => `{ ${name()} }`, () => `[${name()}]`, () => `...${name()}`, () => `${name()} = ${expression(0)}`])() + annotation(), 2).join(', ');
  const block = (d) => `{${pick([' ', '\n'])}${choose.list(() => statement(d - 1), 2).join(pick([' ', '\n', '\n\n']))}${pick([' ', '\n'])}}`;
  const fn = (d) => `${pick(['', 'async '])}function${pick(['', '', '*'])} ${pick([name(), ''])}(${parameters()})${annotation()} ${block(d)}`;
  const arrow = (d) => `${pick(['', 'async '])}${pick([() => `(${parameters()})${annotation()}`, name])()} => ${pick([() => block(d), () => expression(d - 1), () => `(${expression(d - 1)})`])()}`;

  function expression(d) {
    if (d <= 0) return pick([name, () => String(below(100)), () => "'text'", () => '`a${1}b`', () => 'null', () => '/r/u', () => '10n', () => 'this', () => 'await demo.echo(1)', () => '`\n`'])();
    const e = () => expression(d - 1);
    return pick([
      () => `${e()} + ${e()}`, () => `(${e()})`, () => `[${e()}, ${e()}]`, () => `{ ${name()}: ${e()}, ${name()} }`, () => `({ ${name()}: ${e()} })`, () => `${e()}(${e()})`,
      () => `${name()}.${name()}`, () => `${name()}?.${name()}?.(${e()})`, () => `await ${e()}`, () => arrow(d), () => fn(d), () => `class ${pick([name(), ''])} { ${name()}() ${block(d)} }`,
      () => `${e()} ? ${e()} : ${e()}`, () => `${e()}, ${e()}`, () => `${name()} = ${e()}`, () => `new ${name()}(${e()})`, () => `(${arrow(d)})()`, () => `\`\${${e()}}\``,
      () => `${e()} as ${type(1)}`, () => `<${type(1)}>${e()}`, () => `${e()}!`, () => `${e()} satisfies ${type(1)}`, () => `typeof ${e()}`, () => `yield ${e()}`, () => `import(${e()})`,
      () => `{ ${name()}() ${block(d)}, get ${name()}() ${block(d)}, [${e()}]: 1, ...${e()} }`, () => `function (${parameters()}) ${block(d)}`, () => `${e()}\n/ 2`, () => `${e()} // note\n`,
      () => `${e()} /* note */`,
    ])();
  }

  function statement(d) {
    if (d <= 0) return pick([() => `${expression(0)};`, () => expression(0), () => ';', () => `return ${expression(0)};`, () => '// note', () => `const ${name()} = ${expression(0)}`])();
    return pick([
      () => `${expression(d)}${pick([';', ''])}`, () => `${pick(['let', 'const', 'var'])} ${name()}${annotation()} = ${expression(d)}${pick([';', ''])}`, () => fn(d),
      () => `return ${expression(d)}`, () => `if (${expression(0)}) ${block(d)}${pick(['', ` else ${block(d)}`])}`, () => `for (const ${name()} of ${expression(0)}) ${block(d)}`,
      () => `for await (const ${name()} of ${expression(0)}) ${block(d)}`, () => `while (${expression(0)}) ${block(d)}`, () => `try ${block(d)} catch (e) ${block(d)}`, () => block(d),
      () => `${name()}: ${statement(d - 1)}`, () => `class ${name()} { ${pick(['static ', '', 'async ', '#'])}${name()}(${parameters()}) ${block(d)} ${name()} = ${expression(0)} }`,
      () => `const { ${name()}, ...${name()} } = ${expression(0)};`, () => `throw ${expression(d)};`, () => `switch (${expression(0)}) { case 1: ${statement(d - 1)} default: }`,
      () => `interface ${name()} { ${name()}: ${type(2)} }`, () => `type ${name()} = ${type(2)};`, () => `enum ${name()} { A, B = 2 }`, () => `declare const ${name()}: ${type(1)};`,
      () => `/** about */`, () => `'use strict';`, () => `export ${pick(['const a = 1;', 'function b() {}', 'async function main() { return 1 }', '{ a };', 'class C {}', 'type T = 1;'])}`,
      () => `import ${pick(["demo from 'demo'", "{ demo } from 'codemode'", "* as x from 'y'", "'z'", "type T from 't'"])};`, () => `export default ${expression(d)}${pick([';', ''])}`,
      () => `export default ${fn(d)}`, () => `export default class ${pick([name(), ''])} {}`, () => `export default { ${name()}: ${expression(0)}, async run() ${block(d)} }`,
    ])();
  }

  const program = () => choose.list(() => statement(1 + below(3)), 4).join(pick(['\n', '\n', '\r\n', ' ', '\n\n', '; '])) + pick(['', '\n', ';', ';\n', '\n// end']);

  function dress(text) {
    const tag = pick(['', 'js', 'ts', 'JavaScript', 'javascript title="a.js"', 'python', 'tsx']);
    const mark = pick(['```', '```', '~~~', '````']);
    const fenced = `${pick(['', '', '  '])}${mark}${tag}\n${text}\n${mark}`;
    return pick([
      () => fenced, () => `Here it is:\n\n${fenced}\n\nIt's done.`, () => `${fenced}\n\nOr:\n\n${mark}js\n${program()}\n${mark}\n`, () => `#!/usr/bin/env node\n${text}`, () => `\ufeff${text}`,
      () => text.replace(/\n/g, '\r\n'), () => `\n\n  ${text}  \n`, () => `\`\`\`js ${text}\`\`\``, () => `// one\n/* two */ ${text}`, () => `${mark}${tag}\n${text}`,
      () => `${text}\n})();\nglobalThis.out = 1;\n(async () => {`, () => `1 }); globalThis.out = 1; (() => { ${text}`, () => `${text}\n\`\`\``,
    ])();
  }

  function mutate(text) {
    const at = below(text.length + 1), to = Math.min(text.length, at + below(12)), from = below(text.length + 1), end = Math.min(text.length, from + below(60));
    return pick([
      () => text.slice(0, at) + pick(PIECES) + text.slice(at), () => text.slice(0, at) + pick(PIECES) + text.slice(at), () => text.slice(0, at) + text.slice(to),
      () => text.slice(0, at) + text.slice(from, end) + text.slice(at), () => text.slice(0, at), () => text.slice(at), () => text + pick(PIECES), () => pick(PIECES) + text,
      () => text.slice(0, at) + pick(seeds).slice(0, below(80)) + text.slice(at), () => text + pick(['\n', ';\n', ' ']) + pick(seeds), () => text.slice(0, at) + pick(PIECES) + text.slice(to),
    ])();
  }

  /** One more text. */
  return () => {
    let text = chance(1, 2) ? program() : pick(seeds);
    if (chance(1, 3)) text = dress(text);
    for (let n = below(5); n > 0; n--) text = mutate(text);
    return chance(1, 12) ? dress(text) : text;
  };
}
