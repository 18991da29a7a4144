// tries: loading by way of an export
// why: as for import
// end: threw
// error: SyntaxError: there are no modules here
// code: no_modules
export * from 'node:fs';
