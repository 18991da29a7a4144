/** Waiting for events, and for outcomes of connectors' calls, as several test files do it. */
#ifndef CM_TESTS_WAITING_H
#define CM_TESTS_WAITING_H

#include "connector/connector.h"

#include "unit.h"

/* Events until the condition no longer holds; a loop with nothing left to wait for is a failure, not a hang.
 */
#define WAIT_WHILE(w, condition)                     \
    while (condition)                                \
        if (!cm_loop_once((w)->loop) && (condition)) \
    fail_msg("nothing is left to wait for while %s", #condition)

/** The outcomes of calls: how many came, and the last of them. */
struct seen {
    int n;
    bool failed;
    char *json;
    char *marks;
};

/** cm_call_fn into a struct seen. */
MAYBE_UNUSED static void take(void *user, const struct cm_outcome_value *out)
{
    struct seen *s = user;

    s->n++;
    s->failed = out->failed;
    free(s->json);
    free(s->marks);
    s->json = cm_memdup_z(out->value.json.ptr, out->value.json.len);
    s->marks = cm_memdup_z(out->value.marks.ptr, out->value.marks.len);
}

#endif
