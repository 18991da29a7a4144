// tries: a static import
// why: there are no modules; the program is refused whole, with its first call unsent
// end: threw
// error: SyntaxError: there are no modules here
// code: no_modules
import fs from 'fs';
await svc.first({});
return fs;
