// The conversions that whatwg-url asks for.
const text = value => {
    if (typeof value === 'symbol')
        throw new TypeError('A symbol is no text; give a string');
    return String(value).toWellFormed();
};

export { text as USVString };
