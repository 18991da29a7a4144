// tries: prose around a fence, with code in it
// why: the one fence is the program; what stands around it does not run
// expect: 1
// ---- program
Here is the program; svc.first({}) will be called as well:
```js
return 1;
```
})(); svc.second({});
