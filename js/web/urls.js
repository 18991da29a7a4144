// URL and URLSearchParams.
import { URL, URLSearchParams } from 'whatwg-url';
import { named } from './finish.js';

const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash'];

kit.describe(value => {
    if (value instanceof URL)
        return { __proto__: null, name: 'URL', data: Object.fromEntries(parts.map(part => [part, value[part]])), advice: 'return url.href instead' };
    if (!(value instanceof URLSearchParams))
        return undefined;
    return {
        __proto__: null, name: 'URLSearchParams', data: Object.fromEntries(value),
        advice: 'return String(params) or Object.fromEntries(params) instead',
    };
});

made = named({ URL, URLSearchParams });
