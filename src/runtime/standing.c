/* Executions as they stand in the record: found, ended there where nobody runs them here, and told of. */
#include "base/clock.h"
#include "runtime/internal.h"

#define OUTCOME_MAX_BYTES (1u << 30)

cm_exec *rt_find_running(const cm_runtime *rt, const char *id)
{
    cm_exec *e = rt->execs;

    while (e && !cm_z_eq(e->id, id))
        e = e->next;
    return e;
}

cm_status rt_look_up(cm_runtime *rt, const char *id, const char *what, enum cm_exec_state *state,
                     struct cm_err *err)
{
    struct rt_kept row = {0};
    cm_status st = rt_catch_up(rt, err);

    if (st == CM_OK)
        st = cm_store_mark(rt->o.store, err);
    if (st == CM_OK)
        st = cm_store_execution(rt->o.store, id, rt_keep_row, &row, err);
    if (st == CM_E_NOT_FOUND)
        st = rt_no_such(id, err);
    else if (st == CM_OK && !cm_z_eq(row.row.runtime, rt->name))
        st = cm_err_set(err, CM_E_NOT_FOUND,
                        "execution '%.100s' belongs to the runtime '%.100s', and this is '%s'", id,
                        row.row.runtime, rt->name);
    else if (st == CM_OK && row.row.state != CM_EXEC_RUNNING && row.row.state != CM_EXEC_PAUSED)
        st = cm_err_set(err, CM_E_CONFLICT, "execution '%.100s' is %s: it cannot be %s", id,
                        cm_exec_state_text(row.row.state), what);
    *state = row.row.state;
    rt_kept_done(&row);
    return st;
}

/** An end that is recorded, and announced when that is on the disk. */
struct ended {
    cm_runtime *rt;
    char *id, *error;
    enum cm_exec_state to;
};

static void on_row_ended(void *user, const struct cm_err *err)
{
    struct ended *d = user;

    if (!err)
        rt_announce(d->rt, d->id, d->to, false, cm_str_of(d->error));
    free(d->id);
    free(d->error);
    free(d);
}

static void announce_on_disk(cm_runtime *rt, const char *id, enum cm_exec_state to, struct cm_str error)
{
    struct ended *d = cm_new(struct ended);

    *d = (struct ended){.rt = rt, .id = cm_strdup(id), .error = cm_memdup_z(error.ptr, error.len), .to = to};
    (void)rt_disk_wait(rt, on_row_ended, d);
}

cm_status rt_end_row(cm_runtime *rt, const char *id, enum cm_exec_state to, struct cm_str error,
                     struct cm_err *err)
{
    const unsigned from = 1u << CM_EXEC_PAUSED | 1u << CM_EXEC_RUNNING;
    struct rt_kept row = {0};
    bool ran = false;
    cm_exec *e = rt_held_find(rt, id);
    cm_status st = cm_store_execution(rt->o.store, id, rt_keep_row, &row, err);

    if (st == CM_OK) {
        ran = row.row.state == CM_EXEC_RUNNING;
        row.row.state = to;
        row.row.error_json = error;
        row.row.updated_at = row.row.ended_at = cm_now_ms();
        st = cm_store_calls_withdraw(rt->o.store, id, row.row.ended_at, err);
    }
    /* Of what runs elsewhere nothing can be recorded any more; what is paused may have steps that were begun, and reads that were sent. */
    if (st == CM_OK)
        st = cm_store_calls_abandon(rt->o.store, id, err);
    if (st == CM_OK)
        st = rt_drop_parts(rt, id, to, err);
    if (st == CM_OK)
        st = cm_store_finish(rt->o.store, id, from, &row.row, err);
    /* Calls that are withdrawn or rejected, of an execution that goes on, are not what was wanted. */
    if (st != CM_OK) {
        cm_store_back(rt->o.store);
        (void)cm_store_commit(rt->o.store, false, NULL);
    } else if (e) {
        rt_held_drop(e);
    }
    rt_touch(rt);
    if (st == CM_OK && !ran) /* who runs it says so when it notices */
        announce_on_disk(rt, id, to, error);
    rt_kept_done(&row);
    return st;
}

/* ---- calls that are named ---- */

static bool keep_kind(void *user, const struct cm_call_row *row)
{
    *(unsigned *)user = row->kind;
    return false;
}

cm_status rt_rollback_named(cm_runtime *rt, const struct cm_rollback *spec, struct cm_err *err)
{
    for (size_t i = 0; i < spec->n_seqs; i++) {
        unsigned kind = CM_CALL_TOOL;
        cm_status st = cm_store_call(rt->o.store, spec->id, spec->seqs[i], keep_kind, &kind, err);

        if (st != CM_OK)
            return st;
        if (kind != CM_CALL_TOOL)
            return cm_err_set(
                err, CM_E_INVALID,
                "call %u of '%.100s' is no call of a connector, and has nothing to undo: name the "
                "calls inside of it; `codemode executions %.100s` lists them",
                spec->seqs[i], spec->id, spec->id);
    }
    return CM_OK;
}

/* ---- cancel ---- */

static cm_status begin_cancel(cm_runtime *rt, const char *id, struct cm_err *err)
{
    enum cm_exec_state state = CM_EXEC_ERROR;
    cm_exec *e = rt_find_running(rt, id);
    cm_status st = rt_look_up(rt, id, "cancelled", &state, err);

    if (st == CM_OK && !e)
        return rt_end_row(rt, id, CM_EXEC_CANCELLED, (struct cm_str){0}, err);
    (void)cm_store_commit(rt->o.store, false, NULL);
    if (st == CM_OK)
        cm_exec_cancel(e);
    return st;
}

struct cancelling {
    cm_on_disk_fn fn;
    void *user;
};

static void on_cancelled(void *user, const struct cm_err *err)
{
    struct cancelling c = *(struct cancelling *)user;

    free(user);
    c.fn(c.user, err);
}

cm_status cm_runtime_cancel_start(cm_runtime *rt, const char *id, cm_on_disk_fn fn, void *user,
                                  struct cm_err *err)
{
    cm_status st = begin_cancel(rt, id, err);
    struct cancelling *c;

    if (st != CM_OK || !fn)
        return st;
    c = cm_new(struct cancelling);
    *c = (struct cancelling){.fn = fn, .user = user};
    (void)rt_disk_wait(rt, on_cancelled, c);
    return CM_OK;
}

cm_status cm_runtime_cancel(cm_runtime *rt, const char *id, struct cm_err *err)
{
    cm_status st = begin_cancel(rt, id, err);

    return st == CM_OK ? cm_store_commit(rt->o.store, true, err) : st;
}

/* ---- answers that no run gives ---- */

struct rt_answer {
    struct rt_answer *next;
    cm_runtime *rt;
    cm_exec_fn fn;
    void *user;
    enum cm_exec_state state;
    struct cm_buf outcome;
    struct cm_err err;
};

void rt_answers_turn(void *user)
{
    cm_runtime *rt = user;

    while (rt->answers) {
        struct rt_answer *a = rt->answers;

        rt->answers = a->next;
        if (!rt->answers)
            rt->answers_tail = &rt->answers;
        if (a->err.status == CM_OK)
            a->fn(a->user, a->state, cm_buf_str(&a->outcome), NULL);
        else
            a->fn(a->user, a->state, (struct cm_str){0}, &a->err);
        cm_buf_done(&a->outcome);
        free(a);
    }
}

static void enqueue(struct rt_answer *a)
{
    *a->rt->answers_tail = a;
    a->rt->answers_tail = &a->next;
    cm_soon_post(a->rt->answering);
}

/** What is to be told is on the disk. */
static void on_standing(void *user, const struct cm_err *err)
{
    struct rt_answer *a = user;

    if (err)
        a->err = *err;
    enqueue(a);
}

void rt_answer_soon(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, const struct cm_err *why)
{
    const struct rt_outcome_opts opts = {.result_bytes = rt->o.limits.result_bytes};
    struct rt_answer *a = cm_new(struct rt_answer);
    struct rt_kept row = {0};

    *a = (struct rt_answer){
        .rt = rt, .fn = fn, .user = user, .state = CM_EXEC_ERROR, .outcome = CM_BUF_INIT(OUTCOME_MAX_BYTES)};
    if (why)
        a->err = *why;
    else if (cm_store_execution(rt->o.store, id, rt_keep_row, &row, &a->err) == CM_OK &&
             rt_outcome_write(rt->o.store, &row.row, &opts, &a->outcome, &a->err) == CM_OK)
        a->state = row.row.state;
    rt_kept_done(&row);
    if (why) { /* nothing was decided */
        enqueue(a);
        return;
    }
    (void)rt_disk_wait(rt, on_standing, a);
}
