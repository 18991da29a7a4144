// tries: depth without end by a toJSON in every object
// why: it counts as a level
// expect: "TypeError"
const again = () => ({ toJSON: () => ({ a: again() }) });
return await svc.take(again()).catch((e) => e.name);
