// Hot loops until every tier of the compiler has had them, and code that gets too general for its first version.
// expect: [-1456472064,999999000000,"1,x,true"]
function hash(n, k) { let h = 0; for (let i = 0; i < n; i++) h = (h * 31 + (i ^ k)) | 0; return h; }
let t = 0;
for (let k = 0; k < 200; k++) t ^= hash(50000, k);
class Box { constructor(x) { this.x = x; } get twice() { return this.x * 2; } }
let sum = 0;
for (let i = 0; i < 1e6; i++) sum += new Box(i).twice;
const any = (v) => v;
for (let i = 0; i < 1e5; i++) any(i);
return [t, sum, [any(1), any('x'), any(true)].join()];
