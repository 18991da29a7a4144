// What the runtime decides, it decides without effects (docs/adr/0006-runtime-core.md): the compiled files have no symbol of a store, a connector,
// a sandbox, a loop, a clock, chance, or the system.
import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { BUILD } from './lib.mjs';

const CORE = ['runtime/libcm_runtime.a.p/decide', 'runtime/libcm_runtime.a.p/replay', 'runtime/libcm_runtime.a.p/undo', 'runtime/libcm_runtime.a.p/cut', 'store/libcm_store.a.p/moves'];
/** Memory, text, JSON and values; what compilers and sanitizers add. */
const ALLOWED = /^(cm_(buf|json|value|err|str|z|utf8)_\w+|cm_(malloc|calloc|realloc|strdup|memdup_z|asprintf)|free|mem\w+|str\w+|qsort|v?snprintf|__\w+|_GLOBAL_OFFSET_TABLE_)$/;

for (const name of CORE) {
  const object = join(BUILD, 'src', `${name}.c.o`);
  test(`${name.split('/').pop()} has no effects`, { skip: !existsSync(object) && 'this build has no objects of its own' }, () => {
    const nm = spawnSync('nm', ['-u', object], { encoding: 'utf8' });
    assert.equal(nm.status, 0, nm.stderr);
    const used = nm.stdout.split('\n').map((line) => line.trim().split(/\s+/).pop().split('@')[0]).filter(Boolean);
    assert.deepEqual(used.filter((symbol) => !ALLOWED.test(symbol)), []);
  });
}
