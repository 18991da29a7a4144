/** What the files of this folder share. */
#ifndef CM_LOOP_INTERNAL_H
#define CM_LOOP_INTERNAL_H

#include "loop/loop.h"

#include <uv.h>

struct cm_loop {
    uv_loop_t uv;
    uv_prepare_t before_wait; /* sends what `unsent` holds */
    bool turning;             /* uv_run is on the stack */
    cm_stream *unsent;        /* streams with something that cm_stream_send left for the end of the turn */
    cm_loop_looks_fn looks;   /* whether to look for a moment before sleeping; NULL: never */
    void *looks_user;
    bool came_soon;     /* what was waited for last came at once */
    int64_t heard_us;   /* monotonic, when bytes of a stream came last */
    cm_child *children; /* every child not reaped yet, the freed ones included */
};

/** Write what was left for later; no event comes from here. */
void cm_loop__send_all(cm_loop *l);

/** Ends and reaps at once what cm_child_free left running. */
void cm_loop__end_children(cm_loop *l);

#endif
