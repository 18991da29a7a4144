// Search and describe answer from the record.
const found = await codemode.search('echo'), told = await codemode.describe('t.echo'), nothing = await codemode.describe('t.nowhere');
await t.wipe({ found, told, nothing });
return told.path === 't.echo' && nothing.found === false ? 'ok' : { told, nothing };
