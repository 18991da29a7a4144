// tries: a static import
// why: there are no modules; the program is refused whole, with its first call unsent
// end: threw
// error: SyntaxError: import from 'fs' is not possible: there is no such module. Connectors are globals and need
// code: no_modules
import fs from 'fs';
await svc.first({});
return fs;
