/** From a name to its place in a method table, in constant time: descriptions with thousands of operations
 * are common. */
#ifndef CM_CONNECTOR_NAMEMAP_H
#define CM_CONNECTOR_NAMEMAP_H

#include "base/base.h"

#include <stdint.h>

/** Zero-initialise. Keys are borrowed and must outlive the map. */
struct cm_namemap {
    struct cm_namemap_slot {
        const char *key; /* NULL: free */
        size_t len;
        size_t value;
    } * slots;
    size_t n;
    size_t cap;    /* a power of two, or 0 */
    uint64_t seed; /* random, so that a hostile description cannot choose names that collide */
};

void cm_namemap_done(struct cm_namemap *m);
/** Add a NUL-terminated key that is not there yet. */
void cm_namemap_put(struct cm_namemap *m, const char *key, size_t value);
/** The value of a key, or -1. */
long cm_namemap_get(const struct cm_namemap *m, struct cm_str key);

#endif
