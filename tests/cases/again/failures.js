// A failure that was caught is the same failure again, with its fields and its place.
const seen = [];
for (let i = 0; i < 2; i++) {
    try { await t.fail({ i }); } catch (e) { seen.push([e.name, e.message, e.code, e.status, e instanceof Error]); }
    try { await t.strict({ n: 'x' }); } catch (e) { seen.push([e.code, e.message]); }
    try { await t.forbidden({}); } catch (e) { seen.push([e.code, e.message]); }
    try { await t.nothing({}); } catch (e) { seen.push([e.code, e.message]); }
    await t.wipe({ seen });
}
return seen.length === 8 && seen[0].join() === seen[4].join() && seen[0][2] === 'teapot' ? 'ok' : seen;
