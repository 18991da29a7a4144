// The normaliser as the engine gets it: bundled, since a package of it cannot be imported file by file, with the script that takes
// types away loaded already.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import './engine.mjs';

const folder = fileURLToPath(new URL('../../js/service/', import.meta.url));
const parts = ['typescript.js'].filter((file) => existsSync(folder + file)).map((file) => `import './${file}';`);
const { outputFiles } = await build({
  stdin: { contents: `${parts.join('')} export { normalize } from './normalize.js';`, resolveDir: folder }, bundle: true, format: 'esm', write: false, logLevel: 'error',
});
export const { normalize } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
