// tries: speaking the wire's language in texts: headers, lengths and NULs in log lines, names and arguments
// why: a text is counted, never searched
// expect: ["first",12,"\u0000\u0000\u0000\u0005\u0007DONE\u0000\u0000"]
// call: svc.first {"frame":"\u0000\u0000\u0000\u0005\u0007DONE"}
// logs: any
const frame = '\u0000\u0000\u0000\u0005\u0007DONE';
for (let i = 0; i < 12; i++) console.error(frame.repeat(i));
return [await svc.first({ frame }), 12, frame + '\0\0'];
