// tries: two programs in one text, so that what is shown is not what runs
// why: what runs is the last, which a warning says, and what a human approves is a call and not a text
// expect: "first"
// call: svc.first {}
// warning: there are 2 code fences: the one at line 4 was run, the one at line 1 was not
// ---- program
```js
return 1;
```
```js
return svc.first({});
```
