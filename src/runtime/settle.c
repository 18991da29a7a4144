/* What becomes of the calls that are unanswered when their run ends: cancelled, recorded, and their author
 * told. */
#include "base/clock.h"
#include "runtime/internal.h"

#include <stdio.h>

bool rt_call_was_sent(const struct rt_call *c)
{
    return c->entry && (c->entry->row.state != CM_CALL_PENDING || cm_z_eq(c->entry->row.decision, "ask"));
}

/** What becomes of an unanswered call when its run ends: the state in the record, and what the program's
 * author should know. */
static enum cm_call_state abandoned(const struct rt_call *c, enum cm_exec_state exec, const char **warning)
{
    bool completed = exec == CM_EXEC_COMPLETED;

    *warning = NULL;
    switch (c->phase) {
    case RT_PENDING:
        if (rt_call_was_sent(c)) {
            *warning = "was interrupted, and nobody said whether to send it again: it may have taken effect.";
            return CM_CALL_UNKNOWN;
        }
        *warning = "was waiting for approval when the program ended: it was withdrawn and has not run.";
        return CM_CALL_CANCELLED;
    case RT_SENT:
        if (cm_decide_abandoned(c->flags) == CM_CALL_UNKNOWN)
            *warning = "was still running when the run ended and was cancelled; it may have taken effect. "
                       "Await every call.";
        else if (completed)
            *warning = "was still running when the program ended and was cancelled. Await every call.";
        return cm_decide_abandoned(c->flags);
    case RT_QUEUED:
    case RT_STARTING:
    case RT_SYNCING:
        if (completed)
            *warning = "had not been sent when the program ended, and was not. Await every call.";
        return CM_CALL_CANCELLED;
    case RT_STEP:
        if (completed)
            *warning = c->kind == CM_CALL_RUN ? "was still running when the program ended. Await it."
                                              : "was still running when the program ended. Await every step.";
        return CM_CALL_CANCELLED;
    case RT_PARKED:
        if (c->recorded && c->entry->row.state != CM_CALL_PENDING)
            return cm_decide_abandoned(c->flags);
        if (c->recorded)
            *warning = "was waiting for approval when the program ended: it was withdrawn and has not run.";
        return CM_CALL_CANCELLED;
    case RT_TIMER:
    case RT_LOOKUP:
        break;
    }
    return CM_CALL_CANCELLED;
}

/** Whether the record needs no word about it: it has its outcome, waits on for a human, or was never more
 * than a question. */
static bool stays_as_it_is(const struct rt_call *c, enum cm_exec_state exec)
{
    if (c->kind != CM_CALL_TOOL && c->kind != CM_CALL_STEP && c->kind != CM_CALL_RUN)
        return true;
    if (c->entry && c->entry->row.has_outcome)
        return true;
    /* A step in whose function something is pending goes on with it. */
    return exec == CM_EXEC_PAUSED && (c->phase == RT_PENDING || c->phase == RT_STEP);
}

static cm_status settle_one(struct rt_call *c, enum cm_exec_state exec, struct cm_err *err)
{
    cm_exec *e = c->e;
    const char *warning = NULL;
    struct cm_call_row row = rt_call_row(c, abandoned(c, exec, &warning));

    if (warning) {
        char what[640];

        rt_call_describe(c, what, sizeof what);
        rt_exec_warn(e, "%s %s", what, warning);
    }
    row.ended_at = cm_now_ms();
    row.rule = "the run ended first";
    return c->recorded ? cm_store_call_outcome(e->rt->o.store, e->id, &row, err)
                       : cm_store_call_intent(e->rt->o.store, e->id, &row, false, err);
}

cm_status rt_calls_settle(cm_exec *e, enum cm_exec_state state, struct cm_err *err)
{
    cm_status st = CM_OK;
    bool outrun = false; /* somebody else has said what becomes of one of them */

    while (e->calls) {
        struct rt_call *c = e->calls;
        cm_call *up = c->up;

        if (st == CM_OK && !stays_as_it_is(c, state))
            st = settle_one(c, state, err);
        /* That is a word about this call, and none about the others. */
        if (st == CM_E_CONFLICT) {
            outrun = true;
            st = CM_OK;
        }
        if (c->phase == RT_STARTING)
            cm_connector_forget(c->conn, c);
        rt_sdk_stop(c);
        rt_call_unlink(c);
        if (up)
            (void)cm_call_cancel(up); /* its callback frees c */
        else
            rt_call_free(c);
    }
    /* What is recorded and was not issued again, and what somebody decided meanwhile: with the run, it has ended. */
    bool rest = (e->replay || outrun) && state != CM_EXEC_PAUSED;
    if (st == CM_OK && rest)
        st = cm_store_calls_withdraw(e->rt->o.store, e->id, cm_now_ms(), err);
    if (st == CM_OK && rest)
        st = cm_store_calls_abandon(e->rt->o.store, e->id, err);
    return st;
}
