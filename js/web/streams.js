// The streams of the platform, for a body that is read piece by piece.
import { ReadableStream, TransformStream, WritableStream } from 'web-streams-polyfill';
import { named } from './finish.js';

kit.describe(value => (value instanceof ReadableStream || value instanceof WritableStream || value instanceof TransformStream
    ? { __proto__: null, name: value.constructor.name, data: { locked: value.locked }, advice: 'read it first, for example by new Response(stream).text()' }
    : undefined));

made = named({ ReadableStream, TransformStream, WritableStream });
