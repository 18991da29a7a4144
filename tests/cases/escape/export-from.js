// tries: loading by way of an export
// why: as for import
// end: threw
// error: SyntaxError: export from 'node:fs' is not possible: nobody imports a program. Import what it needs, and
// code: no_modules
export * from 'node:fs';
