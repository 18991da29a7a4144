/** A call as a rollback sees it, and whether it is undone. */
#ifndef CM_RUNTIME_UNDO_H
#define CM_RUNTIME_UNDO_H

#include "runtime/internal.h"

/** One call as it is recorded. */
struct rt_undone {
    uint32_t seq;
    char *connector, *method, *by;
    struct cm_own_value args, outcome;
    bool has_outcome, was_sent;
    bool was_asked; /* its outcome was not known, and a human was asked about it */
    enum cm_call_state state;
    unsigned flags, dropped;
    int64_t started_at; /* of an earlier revert whose outcome nobody knows; 0: none */
    char *error;        /* of the newest revert; "" */
};
void rt_undone_done(struct rt_undone *u);
/** A cm_call_row_fn; user: struct rt_undone, zero or of an earlier call. */
bool rt_undone_keep(void *user, const struct cm_call_row *row);

enum rt_verdict {
    RT_LEAVE,  /* it did nothing that could be undone, and nobody needs to hear of it */
    RT_SKIP,   /* it is left alone, and the report says why */
    RT_REVERT, /* it took effect, or may have */
};
/** By its state alone. With RT_SKIP *why says so; it is static. */
enum rt_verdict rt_undone_judge(const struct rt_undone *u, const char **why);
/** Failures that say nothing about whether the call took effect: nobody heard its end. */
bool rt_is_unheard(struct cm_value outcome);

#endif
