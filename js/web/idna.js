import { toASCII, toUnicode } from 'tr46/index.js';

made = { __proto__: null, toASCII, toUnicode };
