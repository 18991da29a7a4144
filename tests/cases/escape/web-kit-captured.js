// tries: catching what the scripts of the web interfaces are given, by intrinsics that note everything they are called with
// why: it is an argument of those scripts and never one of the language's functions; and it can no more than the program
// expect: [true,0,"TypeError"]
const { apply, ownKeys } = Reflect, { getOwnPropertyDescriptor, defineProperty } = Object, has = Object.hasOwn;
const seen = [];
const note = (v) => { if ((typeof v === 'object' || typeof v === 'function') && v !== null) seen[seen.length] = v; };
for (const owner of [Object, Reflect, Array.prototype, Map.prototype, Set.prototype, Promise.prototype, String.prototype, Function.prototype, RegExp.prototype, Uint8Array]) {
  for (const key of ownKeys(owner)) {
    const d = getOwnPropertyDescriptor(owner, key);
    if (typeof d.value !== 'function' || key === 'constructor' || !d.configurable || key === Symbol.hasInstance || key === 'prototype') continue;
    const real = d.value;
    d.value = function (...args) { note(this); for (let i = 0; i < args.length; i++) note(args[i]); return apply(real, this, args); };
    defineProperty(owner, key, d);
  }
}
let e;
for (const use of [() => new URL('http://a.example/?b'), () => structuredClone({ a: 1 }), () => new TextDecoder(), () => new Headers({ a: 'b' }), () => AbortSignal.abort(),
  () => crypto.subtle.digest('SHA-1', new Uint8Array()), () => new Response('x').body, () => new URL('http://\u00fc.example')]) try { use(); } catch { }
try { await fetch('https://a.example/'); } catch (x) { e = x.name; }
let n = 0;
for (let i = 0; i < seen.length; i++) if (has(seen[i], 'noNetwork') || has(seen[i], 'mayFetch')) n++;
return [seen.length > 100, n, e];
