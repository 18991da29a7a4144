// tries: exhausting the stack of whoever walks an argument
// why: depth is bounded before it is walked; the call is refused in the program and never sent
// expect: ["TypeError",true]
let a = {};
for (let i = 0; i < 200000; i++) a = { a };
try {
  await svc.take(a);
  return 'taken';
} catch (e) {
  return [e.name, e.message.includes('nested deeper than 500 levels')];
}
