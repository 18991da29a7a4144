// Calls that were answered after the program's end: its author forgot to await them. They are done, and what awaits them goes on; this
// is what the author is told.
import { errors } from './errors.js';
import { state } from './state.js';

const MAX_PLACES = 8;
// By number: {label, n, failed, message}.
const notes = { __proto__: null, n: 0 };

export function note(label, message) {
    let at = 0;
    state.hasNotes = true;
    while (at < notes.n && notes[at].label !== label)
        at++;
    if (at === MAX_PLACES)
        return;
    if (at === notes.n)
        notes[notes.n++] = { __proto__: null, label, n: 0, failed: 0, message: '' };
    notes[at].n++;
    if (message !== '' && notes[at].failed++ === 0)
        notes[at].message = message;
}

export function warnOfUnawaited() {
    // Several calls at once of which one failed is no mistake; what became of the others stands in the list of calls.
    if (state.outcome.failed)
        return;
    for (let i = 0; i < notes.n; i++) {
        const { label, n, failed, message } = notes[i];
        const what = n > 1 ? `${label}, ${n} calls,` : label;
        const became = failed === 0 ? 'finished after the program had ended'
            : n === 1 ? `failed after the program had ended: ${message}` : `ended after the program had ended, ${failed} of ${n} with a failure: ${message}`;
        errors().warn(`${what} ${became}.` + (i > 0 ? ''
            : ' Await every call, and await Promise.all(list.map(async …)) instead of list.forEach(async …).'));
    }
}
