// The service realm: lives as long as the VM, sees text only, and no program runs in it.
import { normalize } from './normalize.js';

globalThis.normalize = normalize;
