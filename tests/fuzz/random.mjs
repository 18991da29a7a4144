// Choices from a seed: the same seed makes the same inputs on every machine.
export function chooser(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const below = (n) => next() % n;
  return {
    next,
    below,
    chance: (one, of) => below(of) < one,
    pick: (list) => list[below(list.length)],
    list: (make, most) => Array.from({ length: below(most + 1) }, (_, i) => make(i)),
  };
}
