// What one pass knows. Null prototype: reading an absent member must not reach the program's Object.prototype.
export const state = {
    __proto__: null,
    now: 0,            // the clock, epoch milliseconds; moves on deliveries only
    start: 0,          // where it stood when the pass began
    seed: '',          // of all random numbers, 32 hex digits
    draw: 0,           // the delivery that they are a function of
    isSeeded: false,   // whether the generator is at that delivery
    names: '',         // connector names for messages: "github, petstore"
    fetch: false,      // whether the configuration allows hosts
    modules: { __proto__: null }, // names of the configuration's modules
    moduleNames: '',   // the same for messages
    thrown: null,      // {value, stack} of the primitive that was thrown last
    source: '',        // the program as its author wrote it
    map: '',           // where the normaliser inserted text: JSON [[line, column, length], ...]
    outcome: null,     // {failed, value} once the program has settled
    hasNotes: false,   // whether there may be more to warn of at the end: rejections, calls that nobody awaited, timers
    warnings: '',      // JSON texts, comma separated
    nWarnings: 0,
};

// Operations of `send`, the one door to the host. The same numbers stand in src/engine/send.c.
export const OP_CALL = 0, OP_STEP_END = 1, OP_LOG = 2, OP_SETTLED = 3, OP_RESULT = 4, OP_CANCEL = 5, OP_LOAD = 6, OP_LOCATE = 7;
export const OP_MODULE = 9;
export const OP_TARGET = 8;
export const OP_SNIPPET = 10;
export const OP_LINE = 11;
// Kinds of call: enum cm_call_kind of wire/wire.h.
export const TOOL = 0, STEP = 1, SEARCH = 2, DESCRIBE = 3, TIMER = 4, RUN = 5;
