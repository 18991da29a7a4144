// Expressions with groups, look-behind, properties of characters, sticky and global ones; a catastrophic one that is small.
// expect: [60000,4,200000,"αβγ",2]
let n = 0;
for (let i = 0; i < 20000; i++) {
  n += /(\w+)@(\w+)\.com/.exec('me' + i + '@host.com')[2].length > 0 ? 1 : 0;
  n += 'a,b;c'.split(/[,;]/).length - 1;
}
try { /(a+)+b/.test('a'.repeat(20)); } catch { n = -1; }
return [n, /(?<y>\d{4})-(?<m>\d\d)/u.exec('2024-05').groups.y.length, 'x'.repeat(1e5).replace(/x/g, 'yy').length,
  /\p{Script=Greek}+/u.exec('abc αβγ')[0], [...'a1b2'.matchAll(/(?<=[ab])\d/g)].length];
