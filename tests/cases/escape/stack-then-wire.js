// tries: a call from the very end of the stack, whose frame would be cut
// why: a frame is put together by the host's side of the worker, on what stack the engine keeps for it
// expect: true
// calls: any
let sent = 0, refused = 0;
const waits = [];
function dive() {
  try { dive(); } catch (e) {
    if (waits.length < 200) { try { const p = svc.deep({ n: waits.length }); waits.push(p); p.then(() => { sent++; }, () => { refused++; }); } catch { refused++; } }
    throw e;
  }
}
try { dive(); } catch {}
await Promise.allSettled(waits);
return sent + refused >= 200 && sent > 0;
