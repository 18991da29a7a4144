// does what programs do with the web interfaces: addresses, bytes, forms, digests, copies, bodies that are read piece by piece
// expect: ["https://xn--bcher-kva.example/?q=a+b",3,"ba7816bf","x",2,"AbortError"]
const url = new URL('https://bücher.example/');
url.searchParams.set('q', 'a b');
const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc')));
const form = new FormData();
form.append('f', new Blob(['x']), 'f.txt');
const back = await new Response(form).formData();
let n = 0;
for await (const chunk of new Response('héé').body) n += new TextDecoder().decode(chunk).length;
const signal = AbortSignal.abort();
return [url.href, n, digest.toHex().slice(0, 8), await back.get('f').text(), structuredClone(new Map([[1, 2]])).get(1), signal.reason.name];
