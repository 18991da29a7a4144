/** Randomness from the kernel. */
#ifndef CM_BASE_RANDOM_H
#define CM_BASE_RANDOM_H

#include <stddef.h>

/** Fill p from getrandom(2); aborts where the kernel has none, since ids and seeds must never be guessable.
 */
void cm_random_bytes(void *p, size_t len);
/** A version 4 UUID in its 36-character text form (RFC 9562, section 5.4), NUL-terminated. */
void cm_random_uuid(char out[37]);

#endif
