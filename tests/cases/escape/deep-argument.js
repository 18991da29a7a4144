// why: as for results; the call is refused in the program
// expect: true
let a = {};
for (let i = 0; i < 200000; i++) a = { a };
try {
  await svc.take(a);
  return 'taken';
} catch (e) {
  return e instanceof Error;
}
