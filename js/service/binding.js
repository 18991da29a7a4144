// What a program can name: connectors and the modules of the configuration, from BIND's JSON. Read when a program first needs it.

let latest = { text: null, binding: null, compiled: new Map() };

// Every pass begins with the text of its own.
export function bindTo(text) {
    if (latest.text !== text)
        latest = { text, binding: null, compiled: new Map() };
}

export function binding() {
    if (latest.binding === null) {
        let read = {};
        try {
            read = JSON.parse(latest.text);
        } catch {
            // Normalised for show only: there are none.
        }
        latest.binding = { connectors: (read.connectors ?? []).map(c => c.name), modules: new Map(Object.entries(read.modules ?? {})) };
    }
    return latest.binding;
}

// Modules that were compiled for this binding, by name.
export const compiled = () => latest.compiled;
