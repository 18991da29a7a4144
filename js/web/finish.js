// Members as those of the platform's classes: enumerable, with a tag by which Object.prototype.toString tells the class.
export function finish(classes) {
    for (const [name, { prototype }] of Object.entries(classes)) {
        for (const key of Object.getOwnPropertyNames(prototype)) {
            if (key !== 'constructor')
                Object.defineProperty(prototype, key, { enumerable: true });
        }
        Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
    }
    return classes;
}

// A bundle may have other uses for the names of its classes, and give them others.
export function named(classes) {
    for (const [name, value] of Object.entries(classes))
        Object.defineProperty(value, 'name', { value: name, configurable: true });
    return { __proto__: null, ...classes };
}
