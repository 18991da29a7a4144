// A text of one character for each byte.
export function latin1(bytes) {
    let out = '';
    for (let i = 0; i < bytes.length; i += 8192)
        out += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192));
    return out;
}
