/** What the files of this folder share. */
#ifndef CM_LOOP_INTERNAL_H
#define CM_LOOP_INTERNAL_H

#include "loop/loop.h"

#include <uv.h>

struct cm_loop {
    uv_loop_t uv;
    cm_child *children; /* every child not reaped yet, the freed ones included */
};

/** Ends and reaps at once what cm_child_free left running. */
void cm_loop__end_children(cm_loop *l);

#endif
