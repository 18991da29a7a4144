// tries: steps in steps until something on the host's side is as deep as they are
// why: the host keeps them in a list, of which there is a limit
// end: calls_in_flight_limit
// calls: any
const nest = async (n) => (n === 0 ? 0 : 1 + await codemode.step('s', () => nest(n - 1)));
return await nest(5000);
