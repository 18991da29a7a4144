// tries: a megabyte as the name of a method
// why: it is a text like any other, within the frame's limit; the host finds no such method
// expect: "string"
// calls: any
const v = await svc['x'.repeat(1000000)]({});
return typeof v;
