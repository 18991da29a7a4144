/*
 * What people decide about executions: approve, reject, let go on.
 *
 * Happy path of an approval: look at the call as it is recorded -> it is what was shown (hash), it can be shown, other arguments fit ->
 * decided in the record, conditionally -> the execution goes on: in place where its pass is held here, at its next look where it runs here,
 * otherwise from its record. Everything between looking and claiming is one transaction, so of two who do it one wins, whichever processes
 * they are in; the other is told what happened.
 *
 * Nothing here sends anything: that is call.c's, with the bytes of the record, after policy was asked again.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#include <assert.h>
#include <stdio.h>

#define SHOWN_MAX_BYTES  (1u << 30)
#define REASON_MAX_BYTES 4096 /* it is part of the error that a program gets, and of each listing */

/* ---- a decision ---- */

/** One call that is decided about, as it is recorded. */
struct choice {
    uint32_t seq;
    char *connector, *method;
    struct cm_own_value args;
    char hash[RT_HASH_BYTES];
    bool shown;               /* its arguments can be, all of them */
    struct cm_own_value edit; /* a human's arguments in place of these */
    bool decided;             /* by this decision */
};

struct choices {
    const struct cm_decide *d;
    struct choice *list;
    bool approve;
    size_t n, cap;
    size_t n_pending;
    size_t n_decided;
};

static bool is_chosen(const struct cm_decide *d, uint32_t seq)
{
    for (size_t i = 0; i < d->n_seqs; i++)
        if (d->seqs[i] == seq)
            return true;
    return d->n_seqs == 0;
}

static bool choose(void *user, const char *id, const struct cm_call_row *row)
{
    struct choices *c = user;
    cm_autobuf args = CM_BUF_INIT(SHOWN_MAX_BYTES);
    struct choice one = {.seq = row->seq};

    c->n_pending++;
    if (!is_chosen(c->d, row->seq))
        return true;
    one.connector = cm_strdup(row->connector);
    one.method = cm_strdup(row->method);
    one.args = cm_value_dup(row->args);
    (void)snprintf(one.hash, sizeof one.hash, "%s", row->args_hash);
    one.shown = rt_pending_write(&args, id, row, NULL) && !args.failed;
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 8;
        c->list = cm_realloc(c->list, c->cap * sizeof *c->list);
    }
    c->list[c->n++] = one;
    return true;
}

static void choices_done(struct choices *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].connector);
        free(c->list[i].method);
        cm_value_done(&c->list[i].args);
        cm_value_done(&c->list[i].edit);
    }
    free(c->list);
}

static cm_status check_request(const struct cm_decide *d, bool approve, struct cm_err *err)
{
    if (!d->id || !d->id[0])
        return cm_err_set(err, CM_E_INVALID, "which execution? Expected its id");
    if (approve && d->args_json.len && d->n_seqs != 1)
        return cm_err_set(err, CM_E_INVALID, "other arguments are for one call: name it by its seq");
    if (approve && d->hash && d->n_seqs != 1)
        return cm_err_set(err, CM_E_INVALID, "a hash is that of one call: name it by its seq");
    if (d->reason && strlen(d->reason) > REASON_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID,
                          "the reason has %zu bytes; at most %d are recorded: say it shorter",
                          strlen(d->reason), REASON_MAX_BYTES);
    return CM_OK;
}

/** What somebody saw is what the record has, byte for byte, and all of it could be seen. */
static cm_status check_shown(const struct cm_decide *d, const struct choice *c, struct cm_err *err)
{
    char hash[RT_HASH_BYTES];

    if (!c->shown)
        return cm_err_set(
            err, CM_E_CONFLICT,
            "the arguments of call %u, %.100s.%.100s, cannot be shown as they are, so nobody can approve "
            "them: reject it",
            c->seq, c->connector, c->method);
    rt_hash_args(cm_value_view(&c->args), hash);
    if (!cm_z_eq(hash, c->hash))
        return cm_err_set(
            err, CM_E_CONFLICT,
            "something has changed the recorded arguments of call %u, %.100s.%.100s: they are not what the "
            "program asked for. Reject it",
            c->seq, c->connector, c->method);
    if (d->hash && !cm_z_eq(d->hash, c->hash))
        return cm_err_set(
            err, CM_E_CONFLICT,
            "call %u would run with arguments of hash %s, and not with those that you saw (%.100s): look "
            "at it again",
            c->seq, c->hash, d->hash);
    return CM_OK;
}

/** Other arguments are checked as the program's were. Its connector is ready. */
static cm_status check_edit(cm_runtime *rt, struct choice *c, struct cm_str json, struct cm_err *err)
{
    cm_connector *conn = rt_find_connector(rt, c->connector);
    const struct cm_method *methods = NULL;
    const struct cm_policy_rule *rule = NULL;
    cm_autovalue value = {0};
    size_t index = 0;
    long method;
    cm_status st;

    if (!conn)
        return cm_err_set(err, CM_E_UNAVAILABLE, "there is no connector '%.100s' now", c->connector);
    if (cm_connector_state(conn) != CM_CONN_READY)
        return cm_err_set(err, CM_E_UNAVAILABLE, "%s", cm_connector_error(conn));
    method = cm_connector_find(conn, cm_str_of(c->method));
    if (method < 0)
        return cm_err_set(err, CM_E_UNAVAILABLE, "'%.100s' has no method '%.100s' now", c->connector,
                          c->method);
    (void)cm_connector_methods(conn, &methods);
    if (rt->o.config)
        rule = cm_config_policy_match(rt->o.config, c->connector, c->method, methods[method].origin, &index);
    if (rule && rule->action == CM_POLICY_DENY)
        return cm_err_set(err, CM_E_DENIED, "%.100s.%.100s is denied by policy[%zu] %.100s", c->connector,
                          c->method, index, rule->match);
    st = cm_value_from_human_json(json, rt->o.limits.arg_bytes, &value, err);
    if (st == CM_OK)
        st = cm_value_canonical(cm_value_view(&value), rt->o.limits.arg_bytes, &c->edit, err);
    if (st == CM_OK) /* as with a program's: what is sent is what is recorded and shown */
        st = rt_without_secrets(rt, &c->edit, true, err);
    if (st == CM_OK)
        st = rt_check_args(conn, (size_t)method, cm_value_view(&c->edit), err);
    return st == CM_OK ? CM_OK : cm_err_prefix(err, "%.100s.%.100s", c->connector, c->method);
}

/** Every seq that was named is among what is pending, or it is said what it is. */
static cm_status check_named(cm_runtime *rt, const struct choices *c, struct cm_err *err)
{
    for (size_t i = 0; i < c->d->n_seqs; i++) {
        const struct cm_decision_row row = {.approve = c->approve, .at = 1};
        size_t k = 0;

        while (k < c->n && c->list[k].seq != c->d->seqs[i])
            k++;
        if (k < c->n)
            continue;
        /* In the group in which it was seen that it does not wait: this cannot change anything, and says in words what the call is. */
        cm_status st = cm_store_call_decide(rt->o.store, c->d->id, c->d->seqs[i], &row, err);
        assert(st != CM_OK);
        return st;
    }
    return CM_OK;
}

static cm_status decide(cm_runtime *rt, struct choice *c, const struct cm_decide *d, bool approve,
                        struct cm_err *err)
{
    struct cm_decision_row row = {.approve = approve, .at = cm_now_ms(), .by = d->by};
    cm_autofree char *reason =
        d->reason ? cm_secrets_redact(rt->o.secrets, cm_str_of(d->reason), NULL) : NULL;
    cm_autovalue outcome = {0};
    char hash[RT_HASH_BYTES];

    row.reason = reason ? reason : d->reason;
    if (!approve) {
        cm_autofree char *text =
            cm_asprintf("%s.%s was rejected%s%s. It has not run.", c->connector, c->method,
                        row.reason && row.reason[0] ? ": " : "", row.reason ? row.reason : "");

        outcome = rt_error_value("rejected", text);
        row.outcome = cm_value_view(&outcome);
    } else if (c->edit.json_len) {
        rt_hash_args(cm_value_view(&c->edit), hash);
        if (!cm_z_eq(hash, c->hash)) { /* otherwise they are the program's own */
            row.args = cm_value_view(&c->edit);
            row.args_hash = hash;
        }
    }
    return cm_store_call_decide(rt->o.store, d->id, c->seq, &row, err);
}

/** Decide about all of them, in the open group. Only where nobody's decision counts it is a failure. */
static cm_status decide_all(cm_runtime *rt, struct choices *c, struct cm_err *err)
{
    cm_status st = CM_OK;

    for (size_t i = 0; i < c->n; i++) {
        st = decide(rt, &c->list[i], c->d, c->approve, err);
        c->list[i].decided = st == CM_OK;
        c->n_decided += st == CM_OK;
        if (st != CM_OK && st != CM_E_CONFLICT)
            return st;
    }
    return c->n_decided || c->n == 0 ? CM_OK : st;
}

/* ---- going on ---- */

/** What was decided stands. */
static void tell_decided(cm_runtime *rt, const struct choices *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (c->list[i].decided)
            rt_event_human(rt, c->d->id, c->list[i].seq, c->approve, c->d->by, c->d->reason);
}

/** Its pass is held here: the group ends with the claim. *out NULL: it goes on from its record, if at all. */
static cm_status go_on_in_place(cm_runtime *rt, cm_exec *held, const struct choices *c, cm_exec **out,
                                struct cm_err *err)
{
    struct rt_kept row = {0};
    cm_status st = cm_store_execution(rt->o.store, held->id, rt_keep_row, &row, err);

    if (st == CM_OK)
        st = rt_held_resume(held, row.row.passes, out, err);
    rt_kept_done(&row);
    if (st == CM_OK && *out) {
        tell_decided(rt, c);
        rt_event_started(rt, (*out)->id, (*out)->passes);
    }
    return st;
}

/**
 * The group is open, and what was decided (c may be NULL) is in it: it ends here. Nobody is told before it is on the disk: the outcome, and
 * the events, wait for that, and so does each call that was approved.
 */
static cm_status go_on(cm_runtime *rt, const char *id, const struct choices *c, cm_exec_fn fn, void *user,
                       cm_exec **out, struct cm_err *err)
{
    cm_exec *e = rt_find_running(rt, id);
    cm_exec *held = rt_held_find(rt, id);
    cm_status st = held ? go_on_in_place(rt, held, c, out, err) : CM_OK;

    if (*out) {
        rt_exec_listen(*out, fn, user);
        return CM_OK;
    }
    if (st != CM_OK) { /* somebody else goes on with it, and with what was decided here */
        if (cm_store_commit(rt->o.store, true, NULL) == CM_OK)
            tell_decided(rt, c);
        return st;
    }
    st = cm_store_commit(rt->o.store, false, err);
    if (st != CM_OK)
        return st;
    tell_decided(rt, c);
    if (!e)
        return cm_exec_resume(rt, id, fn, user, out, err);
    rt_exec_listen(e, fn, user);
    rt_exec_look_soon(e);
    *out = e;
    return CM_OK;
}

cm_status cm_runtime_resume(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, cm_exec **out,
                            struct cm_err *err)
{
    enum cm_exec_state state = CM_EXEC_ERROR;
    cm_exec *e = NULL;
    cm_status st = rt_look_up(rt, id, "resumed", &state, err);

    if (st == CM_OK)
        st = go_on(rt, id, NULL, fn, user, &e, err);
    else
        (void)cm_store_commit(rt->o.store, false, NULL);
    if (st == CM_OK && out)
        *out = e;
    return st;
}

/* ---- other arguments, whose connector has to start first ---- */

struct rt_deferred {
    struct rt_deferred *next, **prev;
    cm_runtime *rt;
    cm_connector *conn;
    char *id, *args, *hash, *by, *reason;
    uint32_t seq;
    cm_exec_fn fn;
    void *user;
    cm_exec **out;
};

static void deferred_free(struct rt_deferred *f)
{
    *f->prev = f->next;
    if (f->next)
        f->next->prev = f->prev;
    free(f->id);
    free(f->args);
    free(f->hash);
    free(f->by);
    free(f->reason);
    free(f);
}

static void on_ready(void *user, cm_connector *conn)
{
    struct rt_deferred *f = user;
    const struct cm_decide d = {.id = f->id,
                                .seqs = &f->seq,
                                .n_seqs = 1,
                                .args_json = cm_str_of(f->args),
                                .hash = f->hash,
                                .by = f->by,
                                .reason = f->reason};
    struct cm_err err = {0};

    (void)conn;
    if (cm_runtime_approve(f->rt, &d, f->fn, f->user, f->out, &err) != CM_OK)
        rt_answer_soon(f->rt, f->id, f->fn, f->user, &err);
    deferred_free(f);
}

static char *dup_or_null(const char *text)
{
    return text ? cm_strdup(text) : NULL;
}

static void defer(cm_runtime *rt, const struct cm_decide *d, cm_connector *conn, cm_exec_fn fn, void *user,
                  cm_exec **out)
{
    struct rt_deferred *f = cm_new(struct rt_deferred);

    *f = (struct rt_deferred){.next = rt->deferred,
                              .prev = &rt->deferred,
                              .rt = rt,
                              .conn = conn,
                              .id = cm_strdup(d->id),
                              .args = cm_memdup_z(d->args_json.ptr, d->args_json.len),
                              .hash = dup_or_null(d->hash),
                              .by = dup_or_null(d->by),
                              .reason = dup_or_null(d->reason),
                              .seq = d->seqs[0],
                              .fn = fn,
                              .user = user,
                              .out = out};
    if (f->next)
        f->next->prev = &f->next;
    rt->deferred = f;
    cm_connector_ensure(conn, on_ready, f);
}

/** Whether the connector of the call that gets other arguments has to start, and is starting. */
static cm_connector *starting(const cm_runtime *rt, const struct choices *c)
{
    cm_connector *conn =
        c->d->args_json.len && c->n == 1 ? rt_find_connector(rt, c->list[0].connector) : NULL;

    if (!conn || cm_connector_state(conn) == CM_CONN_READY)
        return NULL;
    cm_connector_ensure(conn, NULL, NULL);
    return cm_connector_state(conn) == CM_CONN_STARTING ? conn : NULL;
}

/* ---- approve, reject ---- */

static cm_status carry_out(cm_runtime *rt, struct choices *c, cm_exec_fn fn, void *user, cm_exec **out,
                           struct cm_err *err)
{
    cm_exec *e = NULL;
    cm_status st = decide_all(rt, c, err);

    if (st != CM_OK)
        return st;
    st = go_on(rt, c->d->id, c, fn, user, &e, err);
    if (st == CM_OK && out)
        *out = e;
    if (st == CM_E_CONFLICT && c->n_decided)
        return cm_err_prefix(err, "the decision is recorded, and whoever runs it goes on with it");
    return st;
}

/**
 * Look at what it is about, in a group that stays open: nothing changes between here and the decision. `what` is what the execution would
 * become.
 */
static cm_status look_at(cm_runtime *rt, struct choices *c, const char *what, enum cm_exec_state *state,
                         struct cm_err *err)
{
    cm_status st = check_request(c->d, c->approve, err);

    if (st == CM_OK)
        st = rt_look_up(rt, c->d->id, what, state, err);
    if (st == CM_OK)
        st = cm_store_pending(rt->o.store, rt->name, c->d->id, choose, c, err);
    return st == CM_OK ? check_named(rt, c, err) : st;
}

/** Nothing more is written: others may write. What failed has decided nothing, unless its group has ended with the decision in it. */
static cm_status leave(cm_runtime *rt, struct choices *c, cm_status st)
{
    if (st != CM_OK) /* what was written of a decision that could not be written whole was not decided */
        cm_store_back(rt->o.store);
    (void)cm_store_commit(rt->o.store, false, NULL);
    choices_done(c);
    return st;
}

cm_status cm_runtime_approve(cm_runtime *rt, const struct cm_decide *d, cm_exec_fn fn, void *user,
                             cm_exec **out, struct cm_err *err)
{
    struct choices c = {.d = d, .approve = true};
    enum cm_exec_state state = CM_EXEC_ERROR;
    cm_connector *conn;
    cm_status st;

    if (out)
        *out = NULL;
    st = look_at(rt, &c, "approved", &state, err);
    for (size_t i = 0; i < c.n && st == CM_OK; i++)
        st = check_shown(d, &c.list[i], err);
    if (st != CM_OK)
        return leave(rt, &c, st);
    conn = starting(rt, &c);
    if (conn) {
        defer(rt, d, conn, fn, user, out);
        return leave(rt, &c, CM_OK);
    }
    if (d->args_json.len)
        st = check_edit(rt, &c.list[0], d->args_json, err);
    if (st == CM_OK && c.n_pending == 0 && rt_find_running(rt, d->id))
        st = cm_err_set(err, CM_E_CONFLICT,
                        "execution '%.100s' is running, and no call of it waits for approval", d->id);
    if (st == CM_OK)
        st = carry_out(rt, &c, fn, user, out, err);
    return leave(rt, &c, st);
}

/** {"name":"Error","message":"crm.wipe was rejected: …","code":"rejected"} of the first of them. */
static void rejection(cm_runtime *rt, const struct choices *c, struct cm_buf *out)
{
    const char *reason = c->d->reason ? c->d->reason : "";
    cm_autofree char *text =
        cm_asprintf("%s.%s%s was rejected%s%s. It has not run.", c->list[0].connector, c->list[0].method,
                    c->n > 1 ? ", and what waited beside it," : "", reason[0] ? ": " : "", reason);

    rt_host_error(rt, "rejected", text, out);
}

static cm_status reject_whole(cm_runtime *rt, struct choices *c, cm_exec_fn fn, void *user, cm_exec **out,
                              struct cm_err *err)
{
    cm_exec *e = rt_find_running(rt, c->d->id);
    cm_autobuf error = CM_BUF_INIT(1u << 20);
    cm_status st;

    if (c->n == 0)
        return cm_err_set(err, CM_E_CONFLICT,
                          "no call of execution '%.100s' waits for approval: it was decided already, or "
                          "nothing was asked; `codemode cancel` ends it",
                          c->d->id);
    rejection(rt, c, &error);
    st = decide_all(rt, c, err);
    if (st != CM_OK)
        return st;
    if (!e) {
        st = rt_end_row(rt, c->d->id, CM_EXEC_REJECTED, cm_buf_str(&error), err);
        if (st == CM_OK) {
            tell_decided(rt, c);
            rt_answer_soon(rt, c->d->id, fn, user, NULL);
        }
        return st;
    }
    st = cm_store_commit(rt->o.store, false, err);
    if (st != CM_OK)
        return st;
    tell_decided(rt, c);
    rt_exec_listen(e, fn, user);
    if (out)
        *out = e;
    rt_exec_end(e, CM_EXEC_REJECTED, "rejected", "%s.%s was rejected%s%s. It has not run.",
                c->list[0].connector, c->list[0].method, c->d->reason ? ": " : "",
                c->d->reason ? c->d->reason : "");
    return CM_OK;
}

cm_status cm_runtime_reject(cm_runtime *rt, const struct cm_decide *d, cm_exec_fn fn, void *user,
                            cm_exec **out, struct cm_err *err)
{
    struct choices c = {.d = d};
    enum cm_exec_state state = CM_EXEC_ERROR;
    cm_status st;

    if (out)
        *out = NULL;
    st = look_at(rt, &c, "rejected", &state, err);
    if (st == CM_OK)
        st = d->n_seqs ? carry_out(rt, &c, fn, user, out, err) : reject_whole(rt, &c, fn, user, out, err);
    return leave(rt, &c, st);
}

void rt_deferred_close(cm_runtime *rt)
{
    while (rt->deferred) {
        struct rt_deferred *f = rt->deferred;
        struct cm_err err = {0};

        cm_connector_forget(f->conn, f);
        (void)cm_err_set(&err, CM_E_CANCELLED, "the runtime was closed before anything was decided");
        rt_answer_soon(rt, f->id, f->fn, f->user, &err);
        deferred_free(f);
    }
}
