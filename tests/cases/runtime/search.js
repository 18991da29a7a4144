const found = await codemode.search("echo back");
const type = await codemode.describe(found.results[0].path);
return [found.results[0].path, type.kind, typeof type.types, (await codemode.describe("t.nothing")).found];
