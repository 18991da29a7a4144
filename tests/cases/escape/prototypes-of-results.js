// tries: finding prototypes that are not its own under the host's answers
// why: they have those of the pass's realm, and no others behind them
// expect: [true,true,true,true,true,true,true,true,true]
// answer: all {"o":{},"a":[],"d":5,"m":[],"t":[],"e":{"name":"RangeError","message":"m"},"y":"AA==","b":"AA==","v":"AAA="} @ {"/b":"arraybuffer","/d":"date","/e":"error","/m":"map","/t":"set","/v":"int16","/y":"bytes"}
// call: svc.all
const v = await svc.all(), is = (x, C) => Object.getPrototypeOf(x) === C.prototype;
return [is(v.o, Object), is(v.a, Array), is(v.d, Date), is(v.m, Map), is(v.t, Set), is(v.e, RangeError), is(v.y, Uint8Array), is(v.b, ArrayBuffer), is(v.v, Int16Array)];
