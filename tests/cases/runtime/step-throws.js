try {
  await codemode.step("bad", () => { throw new RangeError("no"); });
} catch (e) {
  return [e.name, e.message];
}
