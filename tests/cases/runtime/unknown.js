const seen = [];
for (const path of [() => t.ecko({}), () => t.strict({}), () => t.strict({ n: "x" })])
  try { await path(); } catch (e) { seen.push(e.code, e.message); }
return seen;
