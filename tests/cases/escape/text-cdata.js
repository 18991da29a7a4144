// tries: markup around the program that closes it early
// why: what stands within is read as one program, the rest of the markup included
// end: threw
// error: SyntaxError: Unexpected '}'
// code: syntax
// ---- program
<![CDATA[ return 1; })(); globalThis.out = 1; (async () => { ]]> return 2; ]]>
