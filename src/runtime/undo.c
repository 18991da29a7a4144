/*
 * Which calls are undone: one that took effect (applied), and one that may have (unknown, in flight when its process died, cancelled or
 * timed out after it was sent). One that its tool says has failed is left alone: undoing what was not done does harm, such as deleting what
 * somebody else had made.
 */
#include "runtime/undo.h"

void rt_undone_done(struct rt_undone *u)
{
    free(u->connector);
    free(u->method);
    free(u->by);
    free(u->error);
    cm_value_done(&u->args);
    cm_value_done(&u->outcome);
    *u = (struct rt_undone){0};
}

bool rt_undone_keep(void *user, const struct cm_call_row *row)
{
    struct rt_undone *u = user;

    rt_undone_done(u);
    *u = (struct rt_undone){
        .seq = row->seq,
        .connector = cm_strdup(row->connector),
        .method = cm_strdup(row->method),
        .by = cm_strdup(row->revert_by),
        .args = cm_value_dup(row->args),
        .outcome = cm_value_dup(row->outcome),
        .has_outcome = row->has_outcome,
        /* Pending and approved, and then withdrawn: its start is that of its issue. */
        .was_sent = cm_z_eq(row->decision, "execute") ||
                    (row->decided_at && row->started_at && row->started_at >= row->decided_at),
        .was_asked = cm_z_eq(row->decision, "ask"),
        .state = row->state,
        .flags = row->method_flags,
        .dropped = row->dropped,
        .started_at = row->revert_started_at,
        .error = cm_strdup(row->revert_error),
    };
    return false;
}

bool rt_is_unheard(struct cm_value outcome)
{
    static const char *const codes[] = {"timeout", "cancelled",        "unavailable", "limit",
                                        "result",  "result_too_large", "protocol"};
    cm_auto(yyjson_doc) doc = NULL;

    if (cm_json_parse(outcome.json, CM_JSON_BIGNUM, &doc, NULL) != CM_OK)
        return true;
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *code = cm_json_get_z(root, "code");
    for (size_t i = 0; code && i < CM_ARRAY_LEN(codes); i++)
        if (cm_z_eq(code, codes[i]))
            return true;
    /* A command that was killed has not said that it failed. */
    return code && cm_z_eq(code, "exit") && cm_json_get(root, "signal");
}

enum rt_verdict rt_undone_judge(const struct rt_undone *u, const char **why)
{
    switch (u->state) {
    case CM_CALL_APPLIED:
    case CM_CALL_UNKNOWN:
    case CM_CALL_EXECUTING:
        return RT_REVERT;
    case CM_CALL_FAILED:
        if (!u->was_sent)
            return RT_LEAVE;
        if (u->dropped & CM_CALL_OUTCOME) {
            *why = "it failed, and how was dropped from the record (log.drop)";
            return RT_SKIP;
        }
        if (rt_is_unheard(cm_value_view(&u->outcome)))
            return RT_REVERT;
        *why = "it failed and said so, so there should be nothing to undo";
        return RT_SKIP;
    case CM_CALL_CANCELLED: /* safe to run again, which is not: without effect */
        return u->was_sent && !(u->flags & CM_METHOD_READ_ONLY) ? RT_REVERT : RT_LEAVE;
    case CM_CALL_REJECTED: /* not to be sent again; but it had been sent before */
        return u->was_asked ? RT_REVERT : RT_LEAVE;
    case CM_CALL_PENDING:
    case CM_CALL_REVERTED:
    case CM_CALL_STATE_COUNT_:
        break;
    }
    return RT_LEAVE;
}
