/*
 * One call, from the program to its answer.
 *
 * Happy path: issue -> canonical bytes and hash -> (a free slot) -> decide -> connector ready -> decide ->
 * intent recorded -> sent -> the connector's callback -> outcome recorded -> delivered.
 *
 * What can go wrong, and then: the store fails before the call was sent: the run ends, nothing was sent. The
 * store fails after: the run ends, the intent stands without outcome. The run ends while the call is in
 * flight: it is cancelled upstream and stays behind here without an execution until the connector has called
 * back.
 */
#include "base/clock.h"
#include "runtime/internal.h"
#include "schema/schema.h"

#include <stdio.h>

static void start_next(cm_exec *e);
static void proceed(struct rt_call *c);

/* ---- the list of unanswered calls ---- */

void rt_call_link(struct rt_call *c)
{
    cm_exec *e = c->e;

    c->prev = e->calls_tail;
    *e->calls_tail = c;
    e->calls_tail = &c->next;
    e->n_outstanding++;
}

static void set_active(struct rt_call *c, bool active)
{
    if (c->active == active)
        return;
    c->active = active;
    c->e->n_active += active ? 1 : -1u;
}

void rt_call_unlink(struct rt_call *c)
{
    cm_exec *e = c->e;

    set_active(c, false);
    e->n_pending -= c->phase == RT_PENDING;
    e->n_steps -= c->phase == RT_STEP;
    e->n_outstanding--;
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        e->calls_tail = c->prev;
    c->e = NULL;
}

void rt_call_free(struct rt_call *c)
{
    cm_timer_free(c->timer);
    rt_disk_forget(c->wait);
    cm_value_done(&c->args);
    free(c->connector);
    free(c->method);
    free(c);
}

/* ---- answers ---- */

void rt_call_fail(struct rt_call *c, enum cm_call_state state, const char *code, const char *fmt, ...)
{
    char message[4096];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);

    cm_autofree char *clean = cm_secrets_redact(c->e->rt->o.secrets, cm_str_of(message), NULL);
    cm_autovalue v = rt_error_value(code, clean ? clean : message);

    rt_call_answer(c, state, true, cm_value_view(&v));
}

/** An outcome that is recorded, and whose call is gone, goes to the program. */
static void give(cm_exec *e, uint32_t id, bool failed, struct cm_value value)
{
    if (e->ending.set)
        return;
    if (e->direct_path) {
        rt_exec_direct_answer(e, failed, value);
        return;
    }
    e->waiting = false;
    cm_pass_deliver(e->pass->pass, id, failed, false, value, e->clock, (uint32_t)e->n_deliveries);
    start_next(e);
}

void rt_call_answer(struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value)
{
    cm_exec *e = c->e;
    uint32_t id = c->id;
    struct cm_err err = {0};

    if (value.json.len + value.marks.len > RT_VALUE_MAX_BYTES) {
        rt_call_fail(c, CM_CALL_FAILED, "result_too_large",
                     "%s.%s gave %zu bytes; a program can take %u at once. Ask for less: filter or page.",
                     c->connector, c->method, value.json.len + value.marks.len, RT_VALUE_MAX_BYTES);
        return;
    }
    if (c->refresh) {
        rt_again_fresh(c, failed, value);
        return;
    }
    if (rt_record_outcome(c, state, failed, value, &err) != CM_OK) {
        rt_exec_store_failed(e, &err);
        return;
    }
    rt_call_unlink(c);
    rt_call_free(c);
    if (rt_account(e, value.json.len + value.marks.len))
        give(e, id, failed, value);
}

/* ---- a connector's method ---- */

static void on_outcome(void *user, const struct cm_outcome_value *out)
{
    struct rt_call *c = user;

    c->up = NULL;
    if (!c->e) { /* the run ended first; its record says so */
        rt_call_free(c);
        return;
    }
    if (c->given_up) {
        rt_call_end_given_up(c);
        return;
    }
    rt_call_answer(c, out->failed ? CM_CALL_FAILED : CM_CALL_APPLIED, out->failed, out->value);
}

cm_connector *rt_find_connector(const cm_runtime *rt, const char *name)
{
    for (size_t i = 0; i < rt->o.n_connectors; i++)
        if (cm_z_eq(cm_connector_name(rt->o.connectors[i]), name))
            return rt->o.connectors[i];
    return rt->o.fetch && cm_z_eq(cm_connector_name(rt->o.fetch), name) ? rt->o.fetch : NULL;
}

/** "expected one object with the arguments by name, { id, name? }, got a string" */
static cm_status refuse_shape(yyjson_val *input, const char *kind, struct cm_err *err)
{
    cm_autobuf shape = CM_BUF_INIT(CM_ERR_MAX_BYTES);

    if (yyjson_obj_size(cm_json_get(input, "properties")) > 0) {
        cm_buf_add_z(&shape, " { ");
        cm_schema_write_accepted(&shape, input);
        cm_buf_add_z(&shape, " },");
    }
    return cm_err_set(err, CM_E_INVALID, "expected one object with the arguments by name,%s got %s",
                      cm_buf_str(&shape).ptr, kind);
}

/**
 * "a.b[0] is missing …" of what the program gave as undefined: it thinks that it gave something. The marks are canonical, so the
 * mark of that place stands in them as it is written here; a name that is no identifier is not looked for.
 */
static void tell_undefined(struct cm_str marks, struct cm_err *err)
{
    static const char missing[] = " is missing";
    const char *at = strstr(err->message, missing);
    cm_autobuf mark = CM_BUF_INIT(CM_ERR_MAX_BYTES), text = CM_BUF_INIT(CM_ERR_MAX_BYTES);

    if (!at || marks.len == 0)
        return;
    cm_buf_add_z(&mark, "\"/");
    for (const char *c = err->message; c < at; c++) {
        if (*c != ']')
            cm_buf_add_char(&mark, *c == '.' || *c == '[' ? '/' : *c);
    }
    cm_buf_add_z(&mark, "\":\"undefined\"");
    if (mark.failed || !memmem(marks.ptr, marks.len, mark.ptr, mark.len))
        return;
    at += strlen(missing);
    cm_buf_addf(&text, "%.*s (it was given as undefined)%s", (int)(at - err->message), err->message, at);
    (void)cm_err_set(err, CM_E_INVALID, "%s", cm_buf_str(&text).ptr);
}

cm_status rt_check_args(cm_connector *conn, size_t method, struct cm_value args, struct cm_err *err)
{
    struct cm_schema_ref input = {0}, output = {0};
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf json = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_status st = cm_value_to_tool_json(args, &json, err);

    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&json), CM_JSON_BIGNUM, &doc, err);
    if (st != CM_OK)
        return st;
    cm_connector_schemas(conn, method, &input, &output);
    if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
        return refuse_shape(input.node, cm_json_kind(yyjson_doc_get_root(doc)), err);
    if (input.node)
        st = cm_schema_check(input.root, input.node, yyjson_doc_get_root(doc), err);
    if (st == CM_E_INVALID)
        tell_undefined(args.marks, err);
    return st == CM_OK ? cm_connector_check(conn, method, args, err) : st;
}

static void on_ready(void *user, cm_connector *conn)
{
    struct rt_call *c = user;

    (void)conn;
    c->phase = RT_QUEUED;
    if (!c->e->ending.set && !c->e->program_failed)
        proceed(c);
}

static void end_by_subrequests(struct rt_call *c)
{
    char what[640];

    rt_call_describe(c, what, sizeof what);
    rt_exec_end(c->e, CM_EXEC_ERROR, "subrequests_limit",
                "The program made more than %u connector calls (limits.subrequests); the one that was too "
                "many is %s. "
                "Do more with each call, or split the work over several runs.",
                c->e->limits.subrequests, what);
}

/** The intent of a call that waited for a human. */
static cm_status start_approved(struct rt_call *c, bool sync)
{
    cm_exec *e = c->e;
    struct cm_err err = {0};
    cm_status st = cm_store_call_start(e->rt->o.store, e->id, c->seq, cm_now_ms(), sync, &err);

    if (st != CM_OK)
        rt_exec_store_failed(e, &err);
    else
        rt_touch(e->rt);
    return st;
}

/** Its intent, unless it stands in the record already. */
static cm_status record_intent(struct rt_call *c, const struct cm_call_decision *d)
{
    if (c->resend || c->refresh || c->intent_stands)
        return CM_OK;
    return c->approved ? start_approved(c, d->sync)
                       : rt_call_record(c, CM_DECIDE_EXECUTE, d->rule, CM_CALL_EXECUTING, d->sync);
}

static void send(struct rt_call *c, long method)
{
    c->phase = RT_SENT;
    cm_connector_serve(c->conn, c->e->id);
    cm_connector_call(c->conn, (size_t)method, cm_value_view(&c->args), on_outcome, c, &c->up);
}

/** Its intent is on the disk. What the connector offers may have changed meanwhile: then it is decided anew whether it can be sent. */
static void on_synced(void *user, const struct cm_err *err)
{
    struct rt_call *c = user;

    c->wait = NULL;
    if (err) {
        rt_exec_store_failed(c->e, err);
        return;
    }
    c->phase = RT_QUEUED;
    c->intent_stands = true;
    /* Of a program that failed nobody needs what was not sent yet. */
    if (c->e->ending.set || c->e->program_failed)
        return;
    if (cm_connector_state(c->conn) == CM_CONN_READY &&
        cm_connector_find(c->conn, cm_str_of(c->method)) == c->method_index)
        send(c, c->method_index);
    else
        proceed(c);
}

static void execute(struct rt_call *c, long method, const struct cm_call_decision *d)
{
    /* What a human has approved waits for the disk whatever it is: their word is there before it counts. */
    bool waits = (d->sync || c->approved) && !c->resend && !c->refresh && !c->intent_stands;

    if (record_intent(c, d) != CM_OK)
        return;
    if (!waits) {
        send(c, method);
        return;
    }
    c->phase = RT_SYNCING;
    c->method_index = method;
    c->wait = rt_disk_wait(c->e->rt, on_synced, c);
}

static void pause_call(struct rt_call *c, const struct cm_call_decision *d)
{
    cm_exec *e = c->e;

    if (c->resend ? !rt_again_ask(c, d->rule)
                  : rt_call_record(c, CM_DECIDE_PAUSE, d->rule, CM_CALL_PENDING, false) != CM_OK)
        return;
    c->phase = RT_PENDING;
    e->n_pending++;
    set_active(c, false);
    start_next(e);
}

/** The record names the rule also where the call never ran; such a row is written with its outcome in one. */
static bool record_refusal(struct rt_call *c, const struct cm_call_decision *d)
{
    return c->recorded || rt_call_record(c, CM_DECIDE_REFUSE, d->rule, CM_CALL_EXECUTING, false) == CM_OK;
}

/** Some are ready at once: then this call does not fall behind those issued after it. */
static void start_connector(struct rt_call *c)
{
    c->ensured = true;
    cm_connector_ensure(c->conn, NULL, NULL);
    if (cm_connector_state(c->conn) != CM_CONN_STARTING) {
        proceed(c);
        return;
    }
    c->phase = RT_STARTING;
    cm_connector_ensure(c->conn, on_ready, c);
}

/** Decide, as far as can be decided now, and act on it. */
static void proceed(struct rt_call *c)
{
    cm_exec *e = c->e;
    struct cm_err why = c->args_err;
    const struct cm_method *methods = NULL;
    long method = -1;
    struct cm_call_facts f = {
        .n_subrequests = c->recorded ? 0 : e->n_subrequests, /* it was counted when it was recorded */
        .max_subrequests = e->limits.subrequests,
        .args_canonical = c->args_ok,
        .connector_known = c->conn != NULL,
        .connector = CM_CONN_IDLE,
    };
    struct cm_call_decision d;

    if (c->conn) {
        /* One that failed may be worth another try: that is for cm_connector_ensure to say. */
        f.connector = cm_connector_state(c->conn);
        if (f.connector == CM_CONN_FAILED && !c->ensured)
            f.connector = CM_CONN_IDLE;
        if (f.connector == CM_CONN_READY)
            method = cm_connector_find(c->conn, cm_str_of(c->method));
        if (method >= 0)
            (void)cm_connector_methods(c->conn, &methods);
        if (e->rt->o.config)
            f.rule = cm_config_policy_match(e->rt->o.config, c->connector, c->method,
                                            methods ? methods[method].origin : NULL, &f.rule_index);
    }
    if (methods) {
        c->flags = f.method_flags = methods[method].flags;
        f.method_known = true;
        f.args_fit =
            c->args_ok && rt_check_args(c->conn, (size_t)method, cm_value_view(&c->args), &why) == CM_OK;
    }
    d = cm_decide_call(&f);
    switch (d.action) {
    case CM_DECIDE_END:
        end_by_subrequests(c);
        return;
    case CM_DECIDE_REFUSE:
        if (record_refusal(c, &d))
            rt_call_refuse(c, &d, &why);
        return;
    case CM_DECIDE_START:
        start_connector(c);
        return;
    case CM_DECIDE_PAUSE:
        /* That it needs a human is what was decided about. A rule that denies is another one. */
        if (c->approved || c->refresh || (c->resend && rt_again_was_approved(c)))
            execute(c, method, &d);
        else
            pause_call(c, &d);
        return;
    case CM_DECIDE_EXECUTE:
        execute(c, method, &d);
        return;
    }
}

/**
 * A slot is free: the calls that wait longest get it and whatever else is free. (A program may well issue a
 * thousand at once.) Calls queue only while every slot is taken, so whatever gives a slot back comes here. One
 * that is refused gives its slot back at once, from inside the loop below, which then goes on: were it to
 * recurse, a queue of wrong calls would be as deep a stack.
 */
static void start_next(cm_exec *e)
{
    if (e->starting)
        return;
    e->starting = true;
    /* Of a program that failed nobody needs what was not sent yet. */
    while (!e->ending.set && !e->program_failed && e->n_active < e->limits.calls_in_flight) {
        struct rt_call *c = e->calls;

        while (c && (c->kind != CM_CALL_TOOL || c->phase != RT_QUEUED || c->active))
            c = c->next;
        if (!c) {
            rt_exec_check_quiescent(e);
            break;
        }
        set_active(c, true);
        proceed(c);
    }
    e->starting = false;
}

uint32_t rt_calls_queued(const cm_exec *e)
{
    uint32_t n = 0;

    for (const struct rt_call *c = e->calls; c; c = c->next)
        n += c->kind == CM_CALL_TOOL && c->phase == RT_QUEUED && !c->active;
    return n;
}

void rt_call_try(struct rt_call *c)
{
    cm_exec *e = c->e;

    c->conn = rt_find_connector(e->rt, c->connector);
    if (e->n_active < e->limits.calls_in_flight) {
        set_active(c, true);
        proceed(c);
    }
}

void rt_call_set_idle(struct rt_call *c)
{
    cm_exec *e = c->e;

    set_active(c, false);
    start_next(e);
}

void rt_call_tool(struct rt_call *c)
{
    cm_exec *e = c->e;

    e->n_subrequests++;
    rt_call_describe(c, e->last_call, sizeof e->last_call);
    if (e->n_subrequests > e->limits.subrequests)
        end_by_subrequests(c);
    else
        rt_call_try(c);
}

/* ---- what the program gave up ---- */

void rt_call_end_given_up(struct rt_call *c)
{
    bool sent = c->phase == RT_SENT || rt_call_was_sent(c);

    if (!c->recorded &&
        rt_call_record(c, CM_DECIDE_REFUSE, "the program gave it up", CM_CALL_EXECUTING, false) != CM_OK)
        return;
    /* Also of what is safe to send again: that is not to have done nothing. */
    if (sent && !(c->flags & CM_METHOD_READ_ONLY))
        rt_call_fail(c, CM_CALL_UNKNOWN, "unknown",
                     "%s.%s was aborted by the program after it had been sent: it may have taken effect.",
                     c->connector, c->method);
    else
        rt_call_fail(c, CM_CALL_CANCELLED, "cancelled", "%s.%s was aborted by the program%s.", c->connector,
                     c->method, sent ? "" : " before it was sent");
}

void rt_call_give_up(struct rt_call *c)
{
    if (c->kind != CM_CALL_TOOL || c->given_up || c->refresh || (c->entry && c->entry->row.has_outcome))
        return;
    switch (c->phase) {
    case RT_SENT: /* its callback comes soon */
        c->given_up = c->up && cm_call_cancel(c->up);
        return;
    case RT_PENDING: /* somebody may have decided already: the record says so */
        c->given_up = true;
        rt_exec_look_soon(c->e);
        return;
    case RT_PARKED: /* what was recorded comes first */
        c->given_up = true;
        return;
    case RT_STARTING:
        cm_connector_forget(c->conn, c);
        rt_call_end_given_up(c);
        return;
    case RT_QUEUED:
    case RT_SYNCING:
        rt_call_end_given_up(c);
        return;
    case RT_STEP:
    case RT_TIMER:
    case RT_LOOKUP:
        break;
    }
}

/* ---- what a human decided ---- */

/** The arguments are those of the record: the program's, or a human's in their place. */
static void take_recorded_args(struct rt_call *c, struct cm_value args)
{
    cm_value_done(&c->args);
    c->args = cm_value_dup(args);
    c->args_ok = true;
    rt_hash_args(args, c->hash);
}

void rt_call_approved(struct rt_call *c, struct cm_value args)
{
    cm_exec *e = c->e;

    if (c->given_up) {
        rt_call_end_given_up(c);
        return;
    }
    e->n_pending -= c->phase == RT_PENDING;
    c->phase = RT_QUEUED;
    c->approved = c->recorded = true;
    take_recorded_args(c, args);
    rt_call_try(c);
}

void rt_call_rejected(struct rt_call *c, struct cm_value outcome)
{
    cm_exec *e = c->e;
    uint32_t id = c->id;
    struct cm_err err = {0};

    rt_exec_move_clock(e);
    e->n_deliveries++;
    rt_touch(e->rt);
    if (cm_store_call_deliver(e->rt->o.store, e->id, c->seq, e->n_deliveries, e->clock, &err) != CM_OK) {
        rt_exec_store_failed(e, &err);
        return;
    }
    rt_call_unlink(c);
    rt_call_free(c);
    give(e, id, true, outcome);
}

/* ---- steps ---- */

void rt_call_place_start(struct rt_call *c)
{
    cm_exec *e = c->e;

    rt_exec_move_clock(e);
    c->start = ++e->n_deliveries;
    c->start_clock = e->clock;
}

void rt_call_start_function(struct rt_call *c, struct cm_value value)
{
    cm_exec *e = c->e;

    c->phase = RT_STEP;
    e->n_steps++;
    e->waiting = false;
    cm_pass_deliver(e->pass->pass, c->id, false, true, value, c->start_clock, (uint32_t)c->start);
}

void rt_call_step(struct rt_call *c)
{
    rt_call_place_start(c);
    if (rt_call_record(c, CM_DECIDE_EXECUTE, "step", CM_CALL_EXECUTING, false) == CM_OK)
        rt_call_start_function(c, (struct cm_value){0});
}

void rt_call_step_end(cm_exec *e, uint32_t id, bool failed, struct cm_value value)
{
    struct rt_call *c = e->calls;
    cm_autovalue recorded = {0};
    struct cm_err err = {0};

    while (c && c->id != id)
        c = c->next;
    if (!c || c->phase != RT_STEP) {
        rt_exec_end(e, CM_EXEC_ERROR, "protocol", "The worker ended a step that was not running (call %u).",
                    id);
        return;
    }
    if (cm_value_checked(value, e->limits.frame_bytes, &recorded, &err) != CM_OK ||
        rt_without_secrets(e->rt, &recorded, false, &err) != CM_OK)
        rt_call_fail(c, CM_CALL_FAILED, "invalid_result", "The value of %s '%s' cannot be recorded: %s",
                     c->kind == CM_CALL_RUN ? "snippet" : "step", c->method, err.message);
    else
        rt_call_answer(c, failed ? CM_CALL_FAILED : CM_CALL_APPLIED, failed, cm_value_view(&recorded));
}
