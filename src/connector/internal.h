/** What connector.c and call.c share. Implementations see connector.h only. */
#ifndef CM_CONNECTOR_INTERNAL_H
#define CM_CONNECTOR_INTERNAL_H

#include "connector/connector.h"
#include "connector/namemap.h"

#define CM_EXECUTION_ID_BYTES 64 /* "exec_" + 16 digits + "_" + UUID and its NUL */

struct cm_connector_waiter {
    cm_connector_fn fn;
    void *user;
};

struct cm_connector {
    cm_loop *loop;
    const struct cm_connector_ops *ops;
    void *self;
    char *name;
    char *origin;
    const cm_secrets *secrets;
    uint32_t start_timeout_ms;
    uint32_t timeout_ms;
    char execution[CM_EXECUTION_ID_BYTES]; /* that calls belong to */

    enum cm_connector_state state;
    bool ever_started;
    int64_t started_at; /* monotonic; of the last start */
    char *error;
    char **warnings;
    size_t n_warnings;
    uint64_t generation;     /* of the method table; counts __ready */
    struct cm_namemap index; /* names of the current table; empty unless READY */
    cm_timer *start_timer;

    struct cm_connector_waiter *waiters;
    size_t n_waiters;
    cm_soon *soon;   /* tells waiters and callers */
    cm_call *flying; /* not answered yet */
    cm_call *done;   /* answered, their callers not told yet; in order */
    cm_call **done_tail;
    bool *gone; /* set by cm_connector_free for whoever is in a callback above it */
};

/** Tell the callers of answered calls. False when a callback freed the connector. */
bool cm_connector__deliver_calls(cm_connector *c);
/** End all calls: their callbacks run inside, with a failure of code "cancelled". */
void cm_connector__end_calls(cm_connector *c);

#endif
