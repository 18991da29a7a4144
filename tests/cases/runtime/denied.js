try {
  await t.forbidden({});
} catch (e) {
  return [e instanceof Error, e.code, e.message];
}
