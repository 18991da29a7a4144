console.log("hi", { a: 1 });
console.warn("careful");
