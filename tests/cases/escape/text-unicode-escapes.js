// tries: names and keywords by escapes, which a reader does not see
// why: the parser sees names; import by an escape is no keyword, and a connector is a connector
// expect: "first"
// call: svc.first {"a":1}
return await \u0073vc.f\u{69}rst({ a: 1 });
