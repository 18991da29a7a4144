// tries: a step that starts itself again and waits for it
// why: each is a step of its own; a name is only a name
// expect: "inner"
// call: step s
// call: step s
// call: step ended "inner"
// call: step ended "inner"
return await codemode.step('s', async () => await codemode.step('s', () => 'inner'));
