/*
 * Going on with an execution that is paused, or whose process is gone, from its record.
 *
 * Happy path: it could go on here -> claimed, on the disk -> its row and calls are read -> a pass with the recorded program, input, seed
 * and clock -> again.c. What can be found out beforehand is refused before the claim, which changes nothing; what fails after it leaves
 * the execution paused as it was.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#include <stdio.h>

#define NAMES_MAX_BYTES 1000

/* ---- whether it can ---- */

struct needs {
    const cm_runtime *rt;
    struct cm_buf gone;
    size_t n;
};

/** Connectors that its calls went to. What was refused went nowhere; what the program was configured with besides is of no matter. */
static bool note_need(void *user, const struct cm_call_row *row)
{
    struct needs *n = user;
    cm_autofree char *listed = NULL;

    if (row->kind != CM_CALL_TOOL || cm_z_eq(row->decision, cm_decision_text(CM_DECIDE_REFUSE)) ||
        rt_find_connector(n->rt, row->connector))
        return true;
    listed = cm_asprintf("'%s'", row->connector);
    if (n->n > 0 && strstr(cm_buf_str(&n->gone).ptr, listed))
        return true;
    cm_buf_addf(&n->gone, "%s%s", n->n++ ? ", " : "", listed);
    return true;
}

static cm_status check_connectors(cm_runtime *rt, const char *id, struct cm_err *err)
{
    struct needs n = {.rt = rt, .gone = CM_BUF_INIT(NAMES_MAX_BYTES)};
    cm_status st = cm_store_calls(rt->o.store, id, note_need, &n, err);

    if (st == CM_OK && n.n > 0)
        st = cm_err_set(err, CM_E_UNAVAILABLE,
                        "execution '%.100s' has called %s, which %s not configured here any more: configure "
                        "%s again, or reject "
                        "the execution. Nothing was changed.",
                        id, cm_buf_str(&n.gone).ptr, n.n > 1 ? "are" : "is", n.n > 1 ? "them" : "it");
    cm_buf_done(&n.gone);
    return st;
}

static bool note_runtime(void *user, const struct cm_exec_row *row)
{
    *(char **)user = cm_strdup(row->runtime);
    return false;
}

/** An execution of another runtime is none: its connectors and their secrets are not those of here. */
static cm_status check_runtime(cm_runtime *rt, const char *id, struct cm_err *err)
{
    cm_autofree char *name = NULL;
    cm_status st = cm_store_execution(rt->o.store, id, note_runtime, &name, err);

    if (st == CM_E_NOT_FOUND || (st == CM_OK && !cm_z_eq(name, rt->name)))
        return cm_err_set(err, CM_E_NOT_FOUND,
                          "there is no execution '%.100s' in runtime '%s'; `codemode executions` lists them",
                          id, rt->name);
    return st;
}

/* ---- what it had ---- */

struct loading {
    cm_exec *e;
    uint64_t bytes;
};

static bool load_call(void *user, const struct cm_call_row *row)
{
    struct loading *l = user;
    cm_exec *e = l->e;

    e->n_subrequests += row->kind == CM_CALL_TOOL;
    e->recorded_bytes +=
        row->args.json.len + row->args.marks.len + row->outcome.json.len + row->outcome.marks.len;
    if (row->delivery > e->n_deliveries)
        e->n_deliveries = row->delivery;
    if (row->seq >= e->n_issued)
        e->n_issued = row->seq + 1;
    rt_replay_add(e->replay, row);
    return true;
}

static cm_status load(cm_exec *e, const struct cm_exec_row *row, struct cm_err *err)
{
    struct loading l = {.e = e};
    cm_status st;

    (void)snprintf(e->id, sizeof e->id, "%s", row->id);
    e->created_at = e->clock = row->created_at;
    e->passes = row->passes;
    if (row->limits_json.len)
        cm_limits_at_most(&e->limits, row->limits_json);
    e->replay = rt_replay_new();
    st = cm_store_calls(e->rt->o.store, e->id, load_call, &l, err);
    if (st == CM_OK)
        st = rt_replay_begin(e->replay, err);
    if (st != CM_OK)
        return st;
    e->replaying = !rt_replay_is_live(e->replay);
    e->catching_up = true;
    rt_again_load_lines(e, row->logs_json);
    return CM_OK;
}

/** It could not be started after all: as it was before. */
static void put_back(cm_runtime *rt, const struct cm_exec_row *was)
{
    struct cm_exec_row row = *was;

    row.state = CM_EXEC_PAUSED;
    row.updated_at = cm_now_ms();
    (void)cm_store_finish(rt->o.store, row.id, 1u << CM_EXEC_RUNNING, &row, NULL);
    (void)cm_store_commit(rt->o.store, false, NULL);
}

static cm_status go_on(cm_runtime *rt, const struct cm_exec_row *row, cm_exec_fn fn, void *user,
                       cm_exec **out, struct cm_err *err)
{
    cm_exec *e = rt_exec_new(rt, &rt->o.limits, fn, user);
    cm_status st = load(e, row, err);

    if (st == CM_OK)
        st = rt_exec_start_pass(e, row->code, row->input, row->seed, err);
    if (st != CM_OK) {
        rt_exec_free(e);
        return st;
    }
    rt_exec_link(e);
    rt_event_started(rt, e->id, e->passes);
    if (out)
        *out = e;
    return CM_OK;
}

/** `asked`: somebody wants it to go on, however often it was interrupted. */
static cm_status resume(cm_runtime *rt, const char *id, bool asked, cm_exec_fn fn, void *user, cm_exec **out,
                        struct cm_err *err)
{
    struct rt_kept kept = {0};
    cm_status st;

    if (rt->closing)
        return cm_err_set(err, CM_E_CANCELLED, "the runtime is being closed");
    st = check_runtime(rt, id, err);
    if (st == CM_OK)
        st = check_connectors(rt, id, err);
    if (st == CM_OK)
        st = cm_sandbox_admits(rt->o.sandbox, rt->name, err);
    if (st == CM_OK)
        st = asked ? cm_store_claim(rt->o.store, id, cm_now_ms(), err)
                   : cm_store_claim_unasked(rt->o.store, id, cm_now_ms(), err);
    /* Others see it from now on. That it is on the disk nobody has to know: what is sent and told later is behind it in the log. */
    if (st == CM_OK)
        st = cm_store_commit(rt->o.store, false, err);
    if (st != CM_OK)
        return st;
    st = cm_store_execution(rt->o.store, id, rt_keep_row, &kept, err);
    if (st == CM_OK) {
        st = go_on(rt, &kept.row, fn, user, out, err);
        if (st != CM_OK)
            put_back(rt, &kept.row);
    }
    rt_kept_done(&kept);
    return st;
}

cm_status cm_exec_resume(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, cm_exec **out,
                         struct cm_err *err)
{
    return resume(rt, id, true, fn, user, out, err);
}

/* ---- what nobody asked for ---- */

void rt_interrupted_say(const char *id, uint32_t times, char *out, size_t cap)
{
    (void)snprintf(out, cap,
                   "Its process died %u times while it ran, so it is not taken up again by itself: its "
                   "program or a tool that it calls may be what ends codemode. `codemode approve %.100s` "
                   "lets it go on from its record, `codemode cancel %.100s` ends it.",
                   times, id, id);
}

/** One that keeps killing the process it is in would keep every server from serving: it is left to somebody. */
static cm_status take_up(cm_runtime *rt, const struct cm_interrupted_row *row, struct cm_err *err)
{
    char text[RT_WARNING_BYTES];

    if (row->times <= RT_RESUMES_MAX)
        return resume(rt, row->id, false, NULL, NULL, NULL, err);
    rt_interrupted_say(row->id, row->times, text, sizeof text);
    return cm_err_set(err, CM_E_LIMIT, "%s", text);
}

typedef void (*failed_fn)(void *user, const char *id, const struct cm_err *err);

static cm_status take_up_all(cm_runtime *rt, uint32_t from, uint32_t to, failed_fn failed, void *user,
                             struct cm_err *err)
{
    struct cm_interrupted_row *rows = NULL;
    size_t n = 0;
    cm_status st = cm_store_interrupted(rt->o.store, rt->name, from, to, &rows, &n, err);

    for (size_t i = 0; i < n; i++) {
        struct cm_err why = {0};

        /* What somebody else takes over at this moment is no failure. */
        if (take_up(rt, &rows[i], &why) != CM_OK && why.status != CM_E_CONFLICT)
            failed(user, rows[i].id, &why);
        free(rows[i].id);
    }
    free(rows);
    return st;
}

cm_status cm_runtime_resume_interrupted(cm_runtime *rt, failed_fn failed, void *user, struct cm_err *err)
{
    cm_status st = rt_recover(rt, err);

    if (st == CM_OK)
        st = take_up_all(rt, 0, RT_RESUMES_MAX, failed, user, err);
    return st == CM_OK ? take_up_all(rt, RT_RESUMES_MAX + 1, UINT32_MAX, failed, user, err) : st;
}
