// tries: two programs in one text, so that what is shown is not what runs
// why: several fences are refused
// end: threw
// error: SyntaxError: several code fences
// code: syntax
// ---- program
```js
return 1;
```
```js
return svc.first({});
```
