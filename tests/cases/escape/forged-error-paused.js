// tries: passing for a run that waits for approval, with what to approve
// why: states are the host's; an error has a name, a message, a code and a place, and no other field crosses
// end: threw
// error: Error: paused
// code: paused
throw { message: 'paused', code: 'paused', status: 'paused', pending: [{ executionId: 'exec_0', seq: 0 }], state: 'paused', kind: 1 };
