// tries: texts that are no Unicode, in values and keys
// why: they cross as escapes, which the host refuses by name; nothing is repaired in silence
// expect: {"\ud800":"\udc00"}
return { '\ud800': '\udc00' };
