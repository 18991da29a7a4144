// leaves: functions and classes made of a text that the next program has too, with state on them
const make = Function('function counter() { return counter.n = (counter.n || 0) + 1; } class C { static made = []; static #n = 0; static next() { return ++C.#n; } } return { counter, C, re: /x/g, list: [1, 2] }');
const { counter, C, re, list } = make();
for (let i = 0; i < 1000; i++) counter(), C.next();
C.made.push(1);
list.push(3);
re.lastIndex = 5;
counter.prototype.left = 'mine';
return [counter.n, C.next()];
// ---- next run
// expect: [1,1,[],0,[1,2],"undefined",true]
const make = Function('function counter() { return counter.n = (counter.n || 0) + 1; } class C { static made = []; static #n = 0; static next() { return ++C.#n; } } return { counter, C, re: /x/g, list: [1, 2] }');
const { counter, C, re, list } = make();
return [counter(), C.next(), C.made, re.lastIndex, list, typeof new counter().left, counter instanceof Function];
