/** What an embedder and people do with an execution, as a scenario has it. To be included by test_schedules alone. */
#ifndef CM_TESTS_SCHED_PEOPLE_H
#define CM_TESTS_SCHED_PEOPLE_H

#include "sched_end.h"

#define PENDING_MAX 32
#define ROUNDS_MAX  1000

/* ---- the embedder ---- */

static void on_told(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct world *w = user;

    (void)json;
    effect("told");
    w->told = true;
    w->no_outcome = err != NULL;
    if (err) {
        w->err = *err;
        return;
    }
    out->told = true;
    out->told_state = state;
}

static void tolerate(struct world *w, cm_status st, const struct cm_err *err)
{
    if (st == CM_OK)
        return;
    if (!out->failed)
        bad("refused: %s", err->message);
    w->told = w->no_outcome = true;
    w->err = *err;
}

/** From here on the product is at work, and what reaches beyond it counts. */
static void begin(struct world *w)
{
    w->told = w->no_outcome = false;
    out->counting = true;
}

static void start(struct world *w)
{
    const struct cm_exec_spec spec = {.code = cm_str_of(sc->text), .limits = CM_LIMITS_DEFAULT};
    struct cm_err err = {0};

    begin(w);
    tolerate(w, cm_exec_start(w->rt, &spec, on_told, w, &w->exec, &err), &err);
}

static void cancel(struct world *w)
{
    struct cm_err err = {0};
    struct found f;

    out->counting = false;
    f = find_execution(w);
    begin(w);
    w->told = f.state == CM_EXEC_PAUSED; /* one that runs here says itself that it has ended */
    tolerate(w, cm_runtime_cancel(w->rt, f.id, &err), &err);
}

/** Events until the embedder has been told. */
static void await_word(struct world *w)
{
    for (int i = 0; !w->told; i++) {
        if (i == ROUNDS_MAX)
            bad("the run does not come to an end");
        if (script_turn())
            continue;
        cm_loop_nowait(w->loop);
        if (script_turn() || w->told)
            continue;
        /* What else can go on has gone on: the disk is the slowest of all. */
        if (job_turn())
            continue;
        if (n_kept > 0 && sc->cancel_in_flight) {
            cancel(w);
        } else if (n_kept > 0) {
            answer_newest();
        } else if (!cm_loop_once(w->loop) && !script_turn() && !w->told) {
            bad("nothing is left to wait for");
        }
    }
}

/* ---- people ---- */

struct pending {
    uint32_t seq;
    char method[16], args[ARGS_MAX];
    enum verdict verdict;
    const struct rule *rule;
};
struct desk {
    struct pending all[PENDING_MAX];
    size_t n;
};

static bool take_pending(void *user, const char *id, const struct cm_call_row *row)
{
    struct desk *d = user;
    struct pending *p = &d->all[d->n++];

    (void)id;
    if (d->n == PENDING_MAX)
        bad("too much is pending");
    *p = (struct pending){.seq = row->seq};
    (void)snprintf(p->method, sizeof p->method, "%s", row->method);
    (void)snprintf(p->args, sizeof p->args, "%.*s", CM_STR_ARG(row->args.json));
    return true;
}

/**
 * What somebody says who can look at the world: yes, as the scenario has it, but not to a call that was done already. To be asked about such
 * a one is right only when its outcome could not have been recorded.
 */
static void judge(struct pending *p)
{
    static const struct rule done_already = {.verdict = REJECT, .with = "it was done"};
    const struct deed *d = deed_of(p->method, cm_str_of(p->args));

    if (d->done > 0 && is_unsafe(tool_of(p->method)->flags)) {
        if (out->open_then == 0 && !out->failed)
            bad("%s %s is asked about, and its outcome was recorded", p->method, p->args);
        out->n_reported_unknown++;
        p->rule = &done_already;
    }
    for (size_t i = 0; i < sc->n_rules && !p->rule; i++)
        if (cm_z_eq(sc->rules[i].method, p->method) &&
            (!sc->rules[i].args[0] || cm_z_eq(sc->rules[i].args, p->args)))
            p->rule = &sc->rules[i];
    p->verdict = p->rule ? p->rule->verdict : APPROVE;
}

/** The first of a kind, or all of it, as the scenario has it. */
static size_t gather(const struct desk *d, enum verdict v, uint32_t *seqs, const struct rule **rule)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct pending *p = &d->all[i];

        if (p->verdict != v || (n > 0 && (sc->one_at_a_time || v == EDIT || p->rule != *rule)))
            continue;
        *rule = p->rule;
        seqs[n++] = p->seq;
        if (v != REJECT)
            deed_of(p->method, cm_str_of(v == EDIT ? p->rule->with : p->args))->approved = true;
    }
    return n;
}

/** One thing that people say to what is pending; with nothing pending (it was interrupted) the run goes on. */
static void decide(struct world *w, const char *id, const struct desk *desk)
{
    struct cm_err err = {0};
    uint32_t seqs[PENDING_MAX];
    const struct rule *rule = NULL;
    struct cm_decide d = {.id = id, .seqs = seqs, .by = "a test"};
    cm_status st;

    begin(w);
    if ((d.n_seqs = gather(desk, REJECT, seqs, &rule)) > 0) {
        d.reason = rule->with[0] ? rule->with : NULL;
        st = cm_runtime_reject(w->rt, &d, on_told, w, &w->exec, &err);
    } else if ((d.n_seqs = gather(desk, EDIT, seqs, &rule)) > 0) {
        d.args_json = cm_str_of(rule->with);
        st = cm_runtime_approve(w->rt, &d, on_told, w, &w->exec, &err);
    } else if ((d.n_seqs = gather(desk, APPROVE, seqs, &rule)) > 0) {
        st = cm_runtime_approve(w->rt, &d, on_told, w, &w->exec, &err);
    } else {
        st = cm_runtime_resume(w->rt, id, on_told, w, &w->exec, &err);
    }
    tolerate(w, st, &err);
}

static void on_rolled_back(void *user, struct cm_str report, const struct cm_err *err)
{
    struct world *w = user;

    (void)report;
    effect("told");
    w->told = true;
    w->no_outcome = err != NULL;
    if (err)
        w->err = *err;
}

struct undone {
    uint32_t seqs[PENDING_MAX];
    size_t n;
};

/** The calls that the world has seen undone, though their record does not say so. */
static bool find_undone(void *user, const struct cm_call_row *row)
{
    struct undone *u = user;

    if (row->kind == CM_CALL_TOOL && row->state != CM_CALL_REVERTED && u->n < PENDING_MAX &&
        deed_of(row->method, row->args.json)->undone > 0)
        u->seqs[u->n++] = row->seq;
    return true;
}

/** Undo it all. Where the last try left calls that may have been undone or not, somebody has looked at each: first those that were. */
static void roll_back(struct world *w, const char *id)
{
    struct cm_rollback r = {.id = id, .by = "a test"};
    struct cm_err err = {0};
    struct undone undone = {.n = 0};

    if (w->n_rollbacks++ > 0) {
        if (cm_store_calls(w->store, id, find_undone, &undone, &err) != CM_OK)
            bad("%s", err.message);
        r.unknown = undone.n ? CM_REVERT_DONE : CM_REVERT_AGAIN;
        r.seqs = undone.seqs;
        r.n_seqs = undone.n;
    }
    begin(w);
    tolerate(w, cm_runtime_rollback_as(w->rt, &r, on_rolled_back, w, &err), &err);
}

/** Whether there is a call that needs approval, and not only one whose outcome is unknown. */
static bool is_asked(const struct desk *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (tool_of(d->all[i].method)->flags & CM_METHOD_REQUIRES_APPROVAL)
            return true;
    return false;
}

/** What people do with a paused run. What the scenario has them do to it as a whole waits until it has come to what they are asked. */
static void act(struct world *w, const struct found *f)
{
    struct desk desk = {.n = 0};
    struct cm_err err = {0};
    struct cm_decide d = {.id = f->id, .by = "a test"};

    if (cm_store_pending(w->store, NULL, f->id, take_pending, &desk, &err) != CM_OK)
        bad("cannot list what is pending: %s", err.message);
    for (size_t i = 0; i < desk.n; i++)
        judge(&desk.all[i]);
    if (!sc->cancel_in_flight && !is_asked(&desk)) {
        decide(w, f->id, &desk);
    } else if (sc->cancel || sc->cancel_in_flight) {
        cancel(w);
    } else if (sc->expire) {
        begin(w);
        w->told = true; /* it is done when the call returns */
        tolerate(w, cm_runtime_expire(w->rt, cm_now_ms() + 2 * TTL_MS, &err), &err);
    } else if (sc->reject_run) {
        begin(w);
        tolerate(w, cm_runtime_reject(w->rt, &d, on_told, w, &w->exec, &err), &err);
    } else {
        decide(w, f->id, &desk);
    }
}

#endif
