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
