// tries: keys that end a mark's pointer early or break out of its text
// why: a key is escaped in the pointer, and the pointer is written as a JSON text
// expect: "take"
// call: svc.take {"a/b":5,"~1":6,"\":\"x\",\"":7,"":8} @ {"/a~1b":"date","/~01":"date","/\":\"x\",\"":"date","/":"date"}
return await svc.take({ 'a/b': new Date(5), '~1': new Date(6), '":"x","': new Date(7), '': new Date(8) });
