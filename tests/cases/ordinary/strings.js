// Long strings built, cut, turned, compared and encoded.
// expect: [200000,-1,10000,"%FC"]
let s = '';
for (let i = 0; i < 200000; i++) s += String.fromCharCode(97 + (i % 26));
const turned = s.split('').reverse().join('').toUpperCase();
const wide = turned.padStart(250000, 'é').normalize('NFD');
return [turned.length, Math.sign('a'.localeCompare('b')), decodeURIComponent(encodeURIComponent('ü'.repeat(10000))).length,
  wide.length ? escape('ü') : ''];
