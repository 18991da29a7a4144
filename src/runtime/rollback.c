/*
 * Undoing what an execution did.
 *
 * Happy path: the calls, newest first -> each is looked at in the record -> its connector is ready -> the intent of its revert is on the
 * disk -> sent -> what became of it is on the disk -> the next. At the end the execution is ROLLED_BACK, if nothing is left, and the
 * report goes to whoever asked.
 *
 * Which calls: undo.c has the rule.
 *
 * Nothing is undone twice. The intent says when the revert was sent; without a result beside it nobody knows whether it took effect: our
 * process died, the server did not answer. Such a revert is reported and left alone until a human says what to do (enum
 * cm_revert_unknown), unless the method that undoes is marked as safe to repeat. Of two processes that roll back one writes the intent; to
 * the other it is such a revert.
 */
#include "base/clock.h"
#include "base/names.h"
#include "runtime/internal.h"
#include "runtime/undo.h"

#include <inttypes.h>
#include <stdio.h>

#define REPORT_MAX_BYTES (64u << 20)
#define SAFE_TWICE       (CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT)

struct list {
    struct cm_buf json;
    size_t n;
};

struct rt_rollback {
    cm_runtime *rt;
    struct rt_rollback *next, **prev;
    char id[RT_ID_BYTES];
    char *by;
    enum cm_revert_unknown unknown;
    uint32_t *only; /* seqs that are meant; n_only 0: all */
    size_t n_only;
    cm_report_fn fn;
    void *user;
    cm_soon *soon;

    uint32_t *plan; /* seqs, newest first */
    size_t n, cap, at;
    bool before; /* something was reverted in another rollback */
    size_t left; /* what could be reverted, but was not meant */

    struct rt_undone call;                 /* the one whose turn it is */
    const struct cm_config_revert *mapped; /* NULL: its connector's own revert */
    cm_connector *conn;
    bool waits; /* for conn to become ready */
    cm_call *up;
    bool safe; /* its revert may be sent twice */
    struct rt_disk_wait *disk;
    char *method;             /* until its intent is on the disk: what is then sent */
    struct cm_own_value args; /* with these, where it is mapped */
    bool rolled_back;
    enum cm_exec_state state; /* that is told */
    struct list reverted, failed, skipped;
};

static void next_call(struct rt_rollback *r);

/* ---- the report ---- */

static void report(struct rt_rollback *r, struct list *list, const char *key, const char *code,
                   const char *text)
{
    struct cm_buf *b = &list->json;

    cm_buf_addf(b, "%s{\"seq\":%" PRIu32 ",\"connector\":", list->n++ ? "," : "", r->call.seq);
    cm_json_write_string(b, cm_str_of(r->call.connector));
    cm_buf_add_z(b, ",\"method\":");
    cm_json_write_string(b, cm_str_of(r->call.method));
    if (text) {
        cm_autofree char *clean = cm_secrets_redact(r->rt->o.secrets, cm_str_of(text), NULL);

        cm_buf_addf(b, ",\"%s\":", key);
        cm_json_write_string(b, cm_str_of(clean ? clean : text));
    }
    if (code)
        cm_buf_addf(b, ",\"code\":\"%s\"", code);
    cm_buf_add_char(b, '}');
}

static void add_list(struct cm_buf *out, const char *key, const struct list *list)
{
    cm_buf_addf(out, ",\"%s\":[", key);
    cm_buf_add_str(out, cm_buf_str(&list->json));
    cm_buf_add_char(out, ']');
}

/* ---- life ---- */

static void unlink_rollback(struct rt_rollback *r)
{
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
}

static void free_rollback(struct rt_rollback *r)
{
    struct list *const lists[] = {&r->reverted, &r->failed, &r->skipped};

    for (size_t i = 0; i < CM_ARRAY_LEN(lists); i++)
        cm_buf_done(&lists[i]->json);
    rt_undone_done(&r->call);
    cm_soon_free(r->soon);
    rt_disk_forget(r->disk);
    cm_value_done(&r->args);
    free(r->method);
    free(r->by);
    free(r->only);
    free(r->plan);
    free(r);
}

/** The last thing that is done with it. */
static void tell(struct rt_rollback *r, enum cm_exec_state state, const struct cm_err *err)
{
    cm_autobuf out = CM_BUF_INIT(3 * (size_t)REPORT_MAX_BYTES + 256);

    unlink_rollback(r);
    if (!err) {
        cm_buf_addf(&out, "{\"executionId\":\"%s\",\"status\":\"%s\"", r->id, cm_exec_state_text(state));
        add_list(&out, "reverted", &r->reverted);
        add_list(&out, "failed", &r->failed);
        add_list(&out, "skipped", &r->skipped);
        cm_buf_add_char(&out, '}');
    }
    struct cm_str report = {0};
    if (!err)
        report = cm_buf_str(&out);
    r->fn(r->user, report, err);
    free_rollback(r);
}

static bool keep_state(void *user, const struct cm_exec_row *row)
{
    *(enum cm_exec_state *)user = row->state;
    return false;
}

static cm_status state_of(const struct rt_rollback *r, enum cm_exec_state *state, struct cm_err *err)
{
    return cm_store_execution(r->rt->o.store, r->id, keep_state, state, err);
}

/** All of it is on the disk. */
static void on_finished(void *user, const struct cm_err *err)
{
    struct rt_rollback *r = user;

    r->disk = NULL;
    if (!err && r->rolled_back)
        rt_announce(r->rt, r->id, r->state, false, (struct cm_str){0});
    tell(r, r->state, err);
}

static void finish(struct rt_rollback *r)
{
    enum cm_exec_state state = CM_EXEC_ERROR;
    struct cm_err err = {0};
    cm_status st = state_of(r, &state, &err);
    bool undone = r->reverted.n > 0 || r->before;

    if (st == CM_OK && undone && r->failed.n == 0 && r->left == 0 && state != CM_EXEC_ROLLED_BACK) {
        st = cm_store_rolled_back(r->rt->o.store, r->id, cm_now_ms(), &err);
        r->rolled_back = st == CM_OK;
    }
    if (st == CM_OK) {
        r->state = r->rolled_back ? CM_EXEC_ROLLED_BACK : state;
        r->disk = rt_disk_wait(r->rt, on_finished, r);
    } else {
        tell(r, state, &err);
    }
}

/** Nothing may go on that cannot be recorded. */
static void give_up(struct rt_rollback *r, const struct cm_err *err)
{
    tell(r, CM_EXEC_ERROR, err);
}

/* ---- sending ---- */

/** Write down what became of the revert; it is on the disk before the next is sent, together with the intent of that. */
static cm_status record_result(struct rt_rollback *r, const char *error, bool unsure, struct cm_err *err)
{
    cm_store *store = r->rt->o.store;
    cm_status st = unsure ? cm_store_call_revert_unsure(store, r->id, r->call.seq, error, err)
                          : cm_store_call_revert(store, r->id, r->call.seq, cm_now_ms(), error, err);

    if (st != CM_OK) /* somebody has said meanwhile what became of it: others may write */
        (void)cm_store_commit(store, false, NULL);
    if (st != CM_OK)
        return st;
    rt_touch(r->rt);
    rt_event_reverted(r->rt, r->id, r->call.seq, r->call.connector, r->call.method, error);
    return CM_OK;
}

/** The sentence of an error's value. */
static char *message_of(struct cm_value v)
{
    cm_auto(yyjson_doc) doc = NULL;
    const char *text = NULL;

    if (cm_json_parse(v.json, CM_JSON_BIGNUM, &doc, NULL) == CM_OK)
        text = cm_json_get_z(yyjson_doc_get_root(doc), "message");
    return cm_strdup(text && *text ? text : "it failed without a word");
}

static void on_reverted(void *user, const struct cm_outcome_value *out)
{
    struct rt_rollback *r = user;
    cm_autofree char *error = out->failed ? message_of(out->value) : NULL;
    /* A revert that nobody heard the end of may have taken effect. */
    bool unsure = out->failed && !r->safe && rt_is_unheard(out->value);
    struct cm_err err = {0};

    r->up = NULL;
    if (!r->rt) { /* the runtime was closed; the intent stands without outcome */
        free_rollback(r);
        return;
    }
    if (record_result(r, error, unsure, &err) != CM_OK) {
        give_up(r, &err);
        return;
    }
    if (unsure) {
        cm_autofree char *text =
            cm_asprintf("%s; whether it was undone is not known. Look, then roll back again and say that it "
                        "is done, or that it is to be sent again.",
                        error);

        report(r, &r->failed, "error", "revert_unknown", text);
    } else if (error) {
        report(r, &r->failed, "error", "revert_failed", error);
    } else {
        report(r, &r->reverted, NULL, NULL, NULL);
    }
    next_call(r);
}

/** The arguments of the call that undoes it. */
static cm_status fill_args(const struct rt_rollback *r, struct cm_own_value *out, struct cm_err *err)
{
    cm_autobuf args = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_autobuf result = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_autobuf json = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_autovalue plain = {0};
    cm_status st = cm_value_to_tool_json(cm_value_view(&r->call.args), &args, err);

    if (st == CM_OK && r->call.state == CM_CALL_APPLIED && r->call.has_outcome)
        st = cm_value_to_tool_json(cm_value_view(&r->call.outcome), &result, err);
    if (st == CM_OK)
        st = cm_config_revert_args(r->mapped, cm_buf_str(&args), cm_buf_str(&result), &json, err);
    if (st == CM_OK)
        st = cm_value_from_json(cm_buf_str(&json), CM_FRAME_MAX_BYTES, &plain, err);
    return st == CM_OK ? cm_value_canonical(cm_value_view(&plain), CM_FRAME_MAX_BYTES, out, err) : st;
}

/** It cannot be sent, for a reason that may go away; nothing is known to have happened. */
static void fail_unsent(struct rt_rollback *r, const char *text)
{
    report(r, &r->failed, "error", "revert_failed", text);
    next_call(r);
}

/** Somebody else is at it, or has done it; or it is not to be undone any more, which `err` says. */
static void outrun(struct rt_rollback *r, const struct cm_err *err)
{
    struct rt_undone now = {0};
    bool read = cm_store_call(r->rt->o.store, r->id, r->call.seq, rt_undone_keep, &now, NULL) == CM_OK;
    bool done = read && now.state == CM_CALL_REVERTED;
    bool begun = read && now.started_at != r->call.started_at;

    rt_undone_done(&now);
    if (done) {
        r->before = true;
        next_call(r);
        return;
    }
    fail_unsent(
        r, begun ? "another rollback is undoing it at this moment; roll back again to see what came of it"
                 : err->message);
}

static void send_own(struct rt_rollback *r, size_t method)
{
    struct cm_value result = {0};

    /* An error is no result: a revert has to see that there is none. */
    if (r->call.state == CM_CALL_APPLIED)
        result = cm_value_view(&r->call.outcome);
    cm_connector_revert(r->conn, method, cm_value_view(&r->call.args), result, on_reverted, r, &r->up);
}

/** An earlier revert was sent, and nobody knows whether it took effect. */
static void ask(struct rt_rollback *r)
{
    cm_autofree char *text =
        cm_asprintf("a revert was sent at %" PRId64 " (epoch ms)%s%s, and whether it took effect is not "
                    "known%s%s. Look, then roll back again and say that it is done, or that it is to be "
                    "sent again.",
                    r->call.started_at, *r->call.by ? " for " : "", r->call.by, *r->call.error ? ": " : "",
                    r->call.error);

    report(r, &r->failed, "error", "revert_unknown", text);
    next_call(r);
}

/** What is sent from here on is never forgotten. */
static void on_intent(void *user, const struct cm_err *err)
{
    struct rt_rollback *r = user;
    cm_autovalue args = r->args;
    cm_autofree char *name = cm_steal(&r->method);
    long method =
        cm_connector_state(r->conn) == CM_CONN_READY ? cm_connector_find(r->conn, cm_str_of(name)) : -1;

    r->args = (struct cm_own_value){0};
    r->disk = NULL;
    if (err) {
        give_up(r, err);
        return;
    }
    if (method < 0) { /* it has gone meanwhile: nothing was sent */
        struct cm_err why = {0};

        if (record_result(r, "its connector went away before it was sent", false, &why) != CM_OK)
            give_up(r, &why);
        else
            fail_unsent(r, "its connector went away before it was sent; roll back again");
        return;
    }
    cm_connector_serve(r->conn, r->id);
    if (r->mapped)
        cm_connector_call(r->conn, (size_t)method, cm_value_view(&args), on_reverted, r, &r->up);
    else
        send_own(r, (size_t)method);
}

static void send(struct rt_rollback *r)
{
    const struct cm_method *methods = NULL;
    const char *name = r->mapped ? r->mapped->call : r->call.method;
    cm_autofree char *mapped_name = NULL;
    cm_autovalue args = {0};
    struct cm_err err = {0};
    long i = cm_connector_find(r->conn, cm_str_of(name));

    if (i < 0 && r->mapped) { /* the configuration may have the upstream's own spelling */
        mapped_name = cm_name_to_method(cm_str_of(name));
        i = cm_connector_find(r->conn, cm_str_of(mapped_name));
    }
    if (i < 0) {
        cm_autofree char *text = cm_connector_unknown(r->conn, cm_str_of(name));

        fail_unsent(r, text);
        return;
    }
    (void)cm_connector_methods(r->conn, &methods);
    if (!r->mapped && !(methods[i].flags & CM_METHOD_HAS_REVERT)) {
        fail_unsent(r, "its method has no revert any more");
        return;
    }
    if (r->mapped && fill_args(r, &args, &err) != CM_OK) {
        fail_unsent(r, err.message);
        return;
    }
    if (r->mapped && rt_check_args(r->conn, (size_t)i, cm_value_view(&args), &err) != CM_OK) {
        (void)cm_err_prefix(&err, "%s", r->mapped->at);
        fail_unsent(r, err.message);
        return;
    }
    r->safe = r->mapped && (methods[i].flags & SAFE_TWICE);
    if (r->call.started_at && !r->safe && r->unknown != CM_REVERT_AGAIN) {
        ask(r);
        return;
    }
    cm_status st = cm_store_call_revert_start(r->rt->o.store, r->id, r->call.seq, cm_now_ms(),
                                              r->call.started_at, r->by, &err);
    if (st == CM_E_CONFLICT) {
        outrun(r, &err);
        return;
    }
    if (st != CM_OK) {
        give_up(r, &err);
        return;
    }
    r->method = cm_strdup(methods[i].name);
    r->args = args;
    args = (struct cm_own_value){0};
    r->disk = rt_disk_wait(r->rt, on_intent, r);
}

static void on_ready(void *user, cm_connector *c)
{
    struct rt_rollback *r = user;

    r->waits = false;
    if (cm_connector_state(c) == CM_CONN_READY)
        send(r);
    else
        fail_unsent(r, cm_connector_error(c));
}

/* ---- one after the other ---- */

/** The origin of its method, where its connector has it now. */
static const char *origin_of(const struct rt_rollback *r)
{
    const struct cm_method *methods = NULL;
    cm_connector *c = rt_find_connector(r->rt, r->call.connector);
    long i = c ? cm_connector_find(c, cm_str_of(r->call.method)) : -1;

    if (i < 0)
        return NULL;
    (void)cm_connector_methods(c, &methods);
    return methods[i].origin;
}

/** The human says that an earlier revert took effect. False: the store failed and everything has ended. */
static bool take_as_done(struct rt_rollback *r)
{
    struct cm_err err = {0};

    if (record_result(r, NULL, false, &err) != CM_OK) {
        give_up(r, &err);
        return false;
    }
    report(r, &r->reverted, NULL, NULL, NULL);
    return true;
}

static bool is_meant(const struct rt_rollback *r, uint32_t seq)
{
    for (size_t i = 0; i < r->n_only; i++)
        if (r->only[i] == seq)
            return true;
    return r->n_only == 0;
}

/** What is to be done about the call, with what its revert needs. */
static enum rt_verdict judge_whole(struct rt_rollback *r, const char **why_out)
{
    const cm_config *config = r->rt->o.config;
    const char *why = NULL;
    enum rt_verdict v = rt_undone_judge(&r->call, &why);

    r->mapped = config ? cm_config_revert_of(config, r->call.connector, r->call.method, origin_of(r)) : NULL;
    if (v == RT_LEAVE || (!r->mapped && (r->call.flags & CM_METHOD_READ_ONLY)))
        return RT_LEAVE;
    if (v == RT_REVERT && !r->mapped && !(r->call.flags & CM_METHOD_HAS_REVERT)) {
        v = RT_SKIP;
        why = "it has no revert; undo it by hand if it must be";
    }
    if (v == RT_REVERT && (r->call.dropped & CM_CALL_ARGS)) {
        v = RT_SKIP;
        why = "its arguments were dropped from the record (log.drop); undo it by hand if it must be";
    }
    if (v == RT_REVERT && (r->call.dropped & CM_CALL_OUTCOME) && !r->mapped) {
        v = RT_SKIP;
        why = "its result was dropped from the record (log.drop); undo it by hand if it must be";
    }
    *why_out = why;
    return v;
}

/** True: something of it is under way, or everything has ended. False: the next one. */
static bool start_call(struct rt_rollback *r)
{
    const char *why = NULL;
    enum rt_verdict v = judge_whole(r, &why);

    if (v == RT_LEAVE)
        return false;
    if (!is_meant(r, r->call.seq)) {
        r->left += v == RT_REVERT;
        return false;
    }
    if (v == RT_SKIP) {
        report(r, &r->skipped, "reason", NULL, why);
        return false;
    }
    if (r->call.started_at && r->unknown == CM_REVERT_DONE)
        return !take_as_done(r);
    r->conn = rt_find_connector(r->rt, r->mapped ? r->mapped->connector : r->call.connector);
    if (!r->conn && r->mapped) { /* as the file has it, or as a program does */
        cm_autofree char *name = cm_name_to_identifier(cm_str_of(r->mapped->connector));

        r->conn = rt_find_connector(r->rt, name);
    }
    if (!r->conn) {
        cm_autofree char *text = cm_asprintf("there is no connector '%s' (any more)",
                                             r->mapped ? r->mapped->connector : r->call.connector);

        report(r, &r->failed, "error", "revert_failed", text);
        return false;
    }
    r->waits = true;
    cm_connector_ensure(r->conn, on_ready, r);
    return true;
}

static void next_call(struct rt_rollback *r)
{
    struct cm_err err = {0};

    while (r->at < r->n) {
        if (cm_store_call(r->rt->o.store, r->id, r->plan[r->at++], rt_undone_keep, &r->call, &err) != CM_OK) {
            give_up(r, &err);
            return;
        }
        r->before =
            r->before || r->call.state == CM_CALL_REVERTED; /* by another process, since it was planned */
        if (start_call(r))
            return;
    }
    finish(r);
}

/* ---- the plan ---- */

static bool plan_call(void *user, const struct cm_call_row *row)
{
    struct rt_rollback *r = user;

    r->before = r->before || row->state == CM_CALL_REVERTED;
    if (row->kind != CM_CALL_TOOL || row->state == CM_CALL_REVERTED)
        return true;
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 32;
        r->plan = cm_realloc(r->plan, r->cap * sizeof *r->plan);
    }
    r->plan[r->n++] = row->seq;
    return true;
}

static void begin(void *user)
{
    struct rt_rollback *r = user;
    struct cm_err err = {0};

    if (cm_store_calls(r->rt->o.store, r->id, plan_call, r, &err) != CM_OK) {
        give_up(r, &err);
        return;
    }
    for (size_t i = 0; i < r->n / 2; i++) {
        uint32_t seq = r->plan[i];

        r->plan[i] = r->plan[r->n - 1 - i];
        r->plan[r->n - 1 - i] = seq;
    }
    next_call(r);
}

/** It goes no further from here on, or this is refused. */
static cm_status bring_to_rest(cm_runtime *rt, const char *id, struct cm_err *err)
{
    enum cm_exec_state state = CM_EXEC_ERROR;
    cm_status st = cm_store_execution(rt->o.store, id, keep_state, &state, err);

    if (st == CM_E_NOT_FOUND)
        return cm_err_set(err, st, "there is no execution '%.100s'; `codemode executions` lists them", id);
    if (st != CM_OK)
        return st;
    if (state == CM_EXEC_RUNNING)
        return cm_err_set(
            err, CM_E_CONFLICT,
            "execution '%.100s' is running; cancel it first (codemode cancel), or wait for its end", id);
    /* Otherwise somebody could approve, and it would do again what is being undone. */
    return state == CM_EXEC_PAUSED ? cm_runtime_cancel_start(rt, id, NULL, NULL, err) : CM_OK;
}

cm_status cm_runtime_rollback_as(cm_runtime *rt, const struct cm_rollback *spec, cm_report_fn fn, void *user,
                                 struct cm_err *err)
{
    struct rt_rollback *r;
    cm_status st;

    if (rt->closing)
        return cm_err_set(err, CM_E_CANCELLED, "the runtime is being closed");
    for (r = rt->rollbacks; r; r = r->next)
        if (cm_z_eq(r->id, spec->id))
            return cm_err_set(err, CM_E_CONFLICT, "execution '%.100s' is being rolled back", spec->id);
    st = rt_recover(rt, err);
    if (st == CM_OK)
        st = rt_rollback_named(rt, spec, err);
    if (st == CM_OK)
        st = bring_to_rest(rt, spec->id, err);
    if (st != CM_OK)
        return st;
    r = cm_new(struct rt_rollback);
    *r = (struct rt_rollback){.rt = rt,
                              .by = cm_strdup_null(spec->by),
                              .unknown = spec->unknown,
                              .n_only = spec->n_seqs,
                              .fn = fn,
                              .user = user,
                              .reverted = {CM_BUF_INIT(REPORT_MAX_BYTES), 0},
                              .failed = {CM_BUF_INIT(REPORT_MAX_BYTES), 0},
                              .skipped = {CM_BUF_INIT(REPORT_MAX_BYTES), 0}};
    (void)snprintf(r->id, sizeof r->id, "%s", spec->id);
    if (spec->n_seqs)
        r->only = (uint32_t *)(void *)cm_memdup_z(spec->seqs, spec->n_seqs * sizeof *spec->seqs);
    r->next = rt->rollbacks;
    r->prev = &rt->rollbacks;
    if (r->next)
        r->next->prev = &r->next;
    rt->rollbacks = r;
    r->soon = cm_soon_new(rt->o.loop, begin, r);
    cm_soon_post(r->soon);
    return CM_OK;
}

cm_status cm_runtime_rollback(cm_runtime *rt, const char *id, cm_report_fn fn, void *user, struct cm_err *err)
{
    return cm_runtime_rollback_as(rt, &(struct cm_rollback){.id = id}, fn, user, err);
}

void rt_rollbacks_close(cm_runtime *rt)
{
    while (rt->rollbacks) {
        struct rt_rollback *r = rt->rollbacks;
        const struct cm_err err = {.status = CM_E_CANCELLED,
                                   .message = "the rollback was ended before it was done: the runtime is "
                                              "being closed. What was reverted is recorded."};

        if (r->waits)
            cm_connector_forget(r->conn, r);
        r->waits = false;
        if (!r->up) {
            tell(r, CM_EXEC_ERROR, &err);
            continue;
        }
        unlink_rollback(r);
        r->fn(r->user, (struct cm_str){0}, &err);
        r->rt = NULL;
        cm_soon_free(cm_steal(&r->soon));
        (void)cm_call_cancel(r->up); /* its callback frees r */
    }
}
