// tries: top-level module code: export, export default
// why: an exported function is the program; export is a word that is blanked
// expect: "first"
// call: svc.first {}
export const unused = 1;
export default async function main() { return await svc.first({}); }
