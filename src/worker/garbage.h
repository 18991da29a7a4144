/** When a worker's garbage is collected: between two passes, where there is enough of it. */
#ifndef CM_WORKER_GARBAGE_H
#define CM_WORKER_GARBAGE_H

#include "engine/engine.h"

struct cm_garbage {
    unsigned runs;        /* since the last collection */
    unsigned runs_in_all; /* since the last one of everything */
    size_t text_taken;    /* bytes of frames since the last collection: counted by who reads them */
    long pages_before;    /* minor faults at the last collection */
    long pages_at_all;    /* and at the last one of everything */
    size_t mapped_before; /* bytes of data mapped until then */
};

/** From here on it counts. */
void cm_garbage_begin(struct cm_garbage *g);
/** A pass is over: collect what is young, or everything, or nothing yet. */
void cm_garbage_collect(struct cm_garbage *g, cm_engine *e);

#endif
