// A reporter for Node's test runner: one JSON line per finished test, {name, state, why}. Suites are not tests.
function reason(error) {
  if (!error) return '';
  const cause = error.cause ?? error;
  return typeof cause === 'object' ? (cause.stack ?? String(cause)) : String(cause);
}

export default async function* report(source) {
  const path = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') path[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details?.error;
    if (data.details?.type === 'suite' && (!error || error.failureType === 'subtestsFailed')) continue;
    const skipped = data.skip !== undefined && data.skip !== false;
    const state = skipped ? 'skip' : type === 'test:pass' || data.todo ? 'pass' : 'fail';
    const name = [...path.slice(0, data.nesting), data.name].join(' > ');
    const why = skipped ? (data.skip === true ? '' : String(data.skip)) : reason(error);
    yield `${JSON.stringify({ name, state, why })}\n`;
  }
}
