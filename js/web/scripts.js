// The scripts of the web interfaces by number. js/bundle.mjs makes an array of the engine's header of each, in this order; the prelude
// asks for them by number (js/prelude/web.js), and so do they for each other.
export const BASIC = 0, EVENTS = 1, ENCODING = 2, URLS = 3, IDNA = 4, HTTP = 5, CRYPTO = 6, STREAMS = 7;
export const files = ['basic', 'events', 'encoding', 'urls', 'idna', 'http', 'crypto', 'streams'];
