// Saved programs that the program of this pass runs: read like any program, but their input is a parameter, since they share its realm.
import { normalize } from './normalize.js';

// By what stands in places: "snippet:NAME". A text that changed while the pass runs gets a name of its own there.
const known = new Map();

export const forgetSnippets = () => known.clear();
export const snippetText = place => known.get(place);

function placeFor(name, code) {
    for (let n = 1, place = `snippet:${name}`; ; place = `snippet:${name}#${++n}`) {
        const text = known.get(place);
        if (text === undefined || text.source === code)
            return place;
    }
}

// As normalize gives it, and `place`.
export function snippetOf(name, code, bind) {
    const place = placeFor(name, code), made = known.get(place) ?? normalize(code, 'own', bind);
    if (made.run === undefined)
        return made;
    known.set(place, { ...made, source: code, place });
    return known.get(place);
}
