// tries: writing outside of an array by getRandomValues: detached buffers, proxies, views that lie about their place
// why: it writes into a view of its own over the array's buffer, whose place the engine tells
// expect: ["TypeError","TypeError",[0,true,0],"RangeError"]
const say = (fn) => { try { return fn(); } catch (e) { return e.name; } };
const gone = new Uint8Array(8);
gone.buffer.transfer();
const part = new Uint8Array(3).fill(0), middle = part.subarray(1, 2);
Object.defineProperty(middle, 'byteOffset', { value: 0 });
Object.defineProperty(middle, 'length', { value: 3 });
let filled = false;
for (let i = 0; i < 50 && !filled; i++) { crypto.getRandomValues(middle); filled = part[1] !== 0; }
return [say(() => crypto.getRandomValues(new Proxy(new Uint8Array(1), {}))), say(() => crypto.getRandomValues(new Float32Array(1))), [part[0], filled, part[2]], say(() => crypto.getRandomValues(new Uint8Array(65537))) || gone];
