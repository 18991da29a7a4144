// The conversions that whatwg-url asks for.
const text = value => {
    if (typeof value === 'symbol')
        throw new TypeError('A symbol is no text; give a string');
    return String(value).toWellFormed();
};

const any = value => value;

export { any, text as USVString };
