// tries: numbers and symbols in boxes, bigints of a megabyte, minus nothing and what is no number
// why: each has its mark or is refused
// expect: ["take","TypeError","TypeError"]
// call: svc.take {"a":0,"b":null,"c":null,"d":"-5","e":1e+21,"f":5e-324} @ {"/a":"-0","/b":"nan","/c":"-inf","/d":"bigint"}
// call: svc.take {"s":{}}
return [await svc.take({ a: -0, b: NaN, c: -Infinity, d: -5n, e: 1e21, f: 5e-324 }), await svc.take(Symbol()).catch((e) => e.name),
  await svc.take({ s: Object(Symbol()) }).then(() => 'TypeError', (e) => e.name)];
