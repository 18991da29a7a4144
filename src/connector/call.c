/*
 * Calls: from cm_connector_call to the one run of the caller's callback.
 *
 * Happy path: call -> ops->call -> (later) __finish: the outcome is redacted and kept, the call moves from
 * `flying` to `done`, and the loop delivers it soon. A time limit or a cancel answers the caller in the same
 * way and stops the call upstream.
 *
 * Who may still hold a call after it was answered by us? With ops->cancel nobody: the implementation lets go
 * in it. Without, the implementation (an embedder's callback) will still finish it some day, perhaps after
 * the connector is gone: such a call stays alive, detached, until then.
 */
#include "base/limits.h"
#include "connector/base64.h"
#include "connector/internal.h"

#include <stdio.h>

struct cm_call {
    cm_connector *c; /* NULL once the caller was told */
    cm_call *next;
    cm_call **prev; /* in `flying`: what points at this one; otherwise NULL */
    cm_call_fn fn;
    void *user;
    void *state;
    char *method;
    char execution[CM_EXECUTION_ID_BYTES];
    uint32_t timeout_ms;
    cm_timer *timer;
    bool answered; /* the outcome stands */
    bool held;     /* the implementation will still finish it */
    bool failed;
    struct cm_own_value value;
};

static void call_free(cm_call *call)
{
    cm_timer_free(call->timer);
    cm_value_done(&call->value);
    free(call->method);
    free(call);
}

/* ---- the one place through which everything leaves: secrets are taken out here ---- */

static cm_status redact_value(const cm_connector *c, struct cm_value v, struct cm_own_value *out,
                              struct cm_err *err)
{
    if (!cm_secrets_occur(c->secrets, v.json) && !cm_secrets_occur(c->secrets, v.marks)) {
        *out = cm_value_dup(v);
        return CM_OK;
    }
    struct cm_own_value clean = {0};
    clean.json = cm_secrets_redact(c->secrets, v.json, &clean.json_len);
    clean.marks = cm_secrets_redact(c->secrets, v.marks, &clean.marks_len);
    struct cm_value view = {clean.json ? cm_str_mk(clean.json, clean.json_len) : v.json,
                            clean.marks ? cm_str_mk(clean.marks, clean.marks_len) : v.marks};
    /* Canonical again: a key may have changed its place, and what was base64 may be none any more. */
    cm_status st = cm_value_checked(view, 2 * (size_t)CM_FRAME_MAX_BYTES, out, err);
    cm_value_done(&clean);
    return st;
}

static void keep_minimal_failure(cm_call *call)
{
    static const char json[] = "{\"code\":\"result\",\"message\":\"the result held a secret in a place from "
                               "which it cannot be removed\",\"name\":\"Error\"}";

    call->failed = true;
    call->value = cm_value_dup((struct cm_value){CM_STR(""), CM_STR("{\"\":\"error\"}")});
    free(call->value.json);
    call->value.json = cm_strdup(json);
    call->value.json_len = sizeof json - 1;
}

/* ---- from flying to done ---- */

static void unlink_flying(cm_call *call)
{
    if (!call->prev)
        return;
    *call->prev = call->next;
    if (call->next)
        call->next->prev = call->prev;
    call->prev = NULL;
    call->next = NULL;
}

static void answer(cm_call *call, bool failed, struct cm_value value)
{
    cm_connector *c = call->c;
    struct cm_err err;

    call->answered = true;
    call->failed = failed;
    if (redact_value(c, value, &call->value, &err) != CM_OK)
        keep_minimal_failure(call);
    cm_timer_stop(call->timer);
    unlink_flying(call);
    *c->done_tail = call;
    c->done_tail = &call->next;
    cm_soon_post(c->soon);
}

static void add_members(struct cm_buf *b, struct cm_str fields_json)
{
    static const char *const ours[] = {"name", "message", "code"};
    cm_auto(yyjson_doc) doc = NULL;

    if (!fields_json.len || cm_json_parse(fields_json, CM_JSON_BIGNUM, &doc, NULL) != CM_OK)
        return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    size_t i, max;
    yyjson_val *key, *val;
    yyjson_obj_foreach(root, i, max, key, val)
    {
        bool taken = false;
        for (size_t k = 0; k < CM_ARRAY_LEN(ours); k++)
            taken = taken || cm_str_eq_z(cm_json_str(key), ours[k]);
        if (taken)
            continue;
        cm_buf_add_char(b, ',');
        cm_json_write_string(b, cm_json_str(key));
        cm_buf_add_char(b, ':');
        cm_json_write(b, val);
    }
}

static void fail_text(cm_call *call, const char *code, struct cm_str fields_json, const char *text)
{
    cm_autobuf b = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    cm_autobuf marks = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    cm_autovalue v = {0};

    cm_buf_add_z(&b, "{\"name\":\"Error\",\"message\":");
    cm_json_write_string(&b, cm_str_of(text));
    if (code) {
        cm_buf_add_z(&b, ",\"code\":");
        cm_json_write_string(&b, cm_str_of(code));
    }
    size_t plain = b.len;
    add_members(&b, fields_json);
    cm_buf_add_char(&b, '}');
    if (b.failed || cm_value_from_json(cm_buf_str(&b), CM_FRAME_MAX_BYTES, &v, NULL) != CM_OK) {
        /* Members that are not well-formed are left out; the sentence still arrives. */
        cm_autobuf again = CM_BUF_INIT(plain + 2);
        cm_buf_add(&again, b.ptr, plain);
        cm_buf_add_char(&again, '}');
        if (cm_value_from_json(cm_buf_str(&again), CM_FRAME_MAX_BYTES, &v, NULL) != CM_OK) {
            v = cm_value_dup((struct cm_value){CM_STR("{\"message\":\"the call failed\",\"name\":\"Error\"}"),
                                               CM_STR("")});
        }
    }
    /* The empty pointer sorts before all others. */
    cm_buf_add_z(&marks, "{\"\":\"error\"");
    if (v.marks_len > 2) {
        cm_buf_add_char(&marks, ',');
        cm_buf_add(&marks, v.marks + 1, v.marks_len - 1);
    } else {
        cm_buf_add_char(&marks, '}');
    }
    answer(call, true, (struct cm_value){{v.json, v.json_len}, cm_buf_str(&marks)});
}

/* The implementation lets go of the call. False: its caller has been answered already, so there is nothing to
 * do. */
static bool may_finish(cm_call *call)
{
    call->held = false;
    if (!call->answered)
        return true;
    if (!call->c)
        call_free(call);
    return false;
}

void cm_call__finish(cm_call *call, struct cm_value value)
{
    if (may_finish(call))
        answer(call, false, value);
}

void cm_call__finish_json(cm_call *call, struct cm_str json)
{
    cm_autovalue v = {0};
    struct cm_err err;

    if (!may_finish(call))
        return;
    if (!json.len) {
        answer(call, false, (struct cm_value){{NULL, 0}, {NULL, 0}});
        return;
    }
    if (cm_value_from_json(json, CM_FRAME_MAX_BYTES, &v, &err) == CM_OK) {
        answer(call, false, cm_value_view(&v));
        return;
    }
    cm_autofree char *text = cm_asprintf("%s.%s returned a result that cannot be used: %s", call->c->name,
                                         call->method, err.message);
    fail_text(call, "result", CM_STR(""), text);
}

void cm_call__finish_bytes(cm_call *call, struct cm_str bytes)
{
    struct cm_value v = {.marks = CM_STR("{\"\":\"bytes\"}")};

    if (!may_finish(call))
        return;
    /* The program could decode what a search of the base64 text does not see: looked for in the bytes
     * themselves. */
    if (cm_secrets_occur(call->c->secrets, bytes)) {
        fail_text(call, "result", CM_STR(""),
                  "the result held a secret in a place from which it cannot be removed");
        return;
    }
    cm_autobuf b = CM_BUF_INIT(bytes.len / 3 * 4 + 8);
    cm_buf_add_char(&b, '"');
    cm_base64_encode(&b, bytes);
    cm_buf_add_char(&b, '"');
    if (b.failed) {
        fail_text(call, "limit", CM_STR(""), "the result does not fit into memory");
        return;
    }
    v.json = cm_buf_str(&b);
    answer(call, false, v);
}

void cm_call__fail(cm_call *call, const char *code, struct cm_str fields_json, const char *fmt, ...)
{
    cm_autofree char *text = NULL;
    va_list ap;

    if (!may_finish(call))
        return;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = cm_strdup("the call failed");
    va_end(ap);
    fail_text(call, code, fields_json, text);
}

/* ---- ending from our side ---- */

static void end_call(cm_call *call, const char *code, const char *text)
{
    cm_connector *c = call->c;

    call->held = !c->ops->cancel;
    fail_text(call, code, CM_STR(""), text);
    if (c->ops->cancel)
        c->ops->cancel(c->self, call);
}

static void timed_out(void *user)
{
    cm_call *call = user;
    cm_autofree char *text =
        cm_asprintf("%s.%s did not answer within %u ms", call->c->name, call->method, call->timeout_ms);

    end_call(call, "timeout", text);
}

bool cm_call_cancel(cm_call *call)
{
    if (call->answered)
        return false;
    cm_autofree char *text = cm_asprintf("%s.%s was cancelled", call->c->name, call->method);
    end_call(call, "cancelled", text);
    return true;
}

/* ---- telling the caller ---- */

static void deliver(cm_connector *c)
{
    cm_call *call = c->done;

    c->done = call->next;
    if (!c->done)
        c->done_tail = &c->done;
    call->c = NULL;
    call->fn(call->user, &(struct cm_outcome_value){call->failed, cm_value_view(&call->value)});
    if (!call->held)
        call_free(call);
}

bool cm_connector__deliver_calls(cm_connector *c)
{
    bool gone = false;
    size_t n = 0;

    /* Only those that are here now: a callback that calls again must not keep the loop from its other work.
     */
    for (const cm_call *k = c->done; k; k = k->next)
        n++;
    c->gone = &gone;
    while (n-- > 0 && c->done) {
        deliver(c);
        if (gone)
            return false;
    }
    c->gone = NULL;
    return true;
}

void cm_connector__end_calls(cm_connector *c)
{
    while (c->flying || c->done) {
        while (c->flying)
            (void)cm_call_cancel(c->flying);
        deliver(c);
    }
}

/* ---- beginning ---- */

static cm_call *begin(cm_connector *c, size_t i, cm_call_fn fn, void *user)
{
    const struct cm_method *methods = NULL;
    size_t n = cm_connector_methods(c, &methods);
    cm_call *call = cm_new(cm_call);

    call->c = c;
    call->fn = fn;
    call->user = user;
    call->method = cm_strdup(i < n ? methods[i].name : "?");
    memcpy(call->execution, c->execution, sizeof call->execution);
    call->timeout_ms = i < n && methods[i].timeout_ms ? methods[i].timeout_ms : c->timeout_ms;
    call->timer = cm_timer_new(c->loop, timed_out, call);
    call->held = true;
    call->next = c->flying;
    call->prev = &c->flying;
    if (call->next)
        call->next->prev = &call->next;
    c->flying = call;
    cm_timer_start(call->timer, call->timeout_ms);
    return call;
}

/* Between the decision to call and the call the connector may have died or lost the method. */
static bool may_send(cm_call *call, size_t i, bool revert)
{
    cm_connector *c = call->c;
    const struct cm_method *methods = NULL;

    if (c->state != CM_CONN_READY) {
        cm_call__fail(call, "unavailable", CM_STR(""), "%s is not available: %s", c->name,
                      c->error[0] ? c->error : "it is not ready");
        return false;
    }
    if (i >= cm_connector_methods(c, &methods)) {
        cm_call__fail(call, "unknown_method", CM_STR(""), "%s no longer has this method", c->name);
        return false;
    }
    if (revert && (!c->ops->revert || !(methods[i].flags & CM_METHOD_HAS_REVERT))) {
        cm_call__fail(call, "no_revert", CM_STR(""), "%s.%s cannot be reverted", c->name, methods[i].name);
        return false;
    }
    return true;
}

void cm_connector_call(cm_connector *c, size_t i, struct cm_value args, cm_call_fn fn, void *user,
                       cm_call **out)
{
    cm_call *call = begin(c, i, fn, user);

    *out = call;
    if (may_send(call, i, false))
        c->ops->call(c->self, i, args, call);
}

void cm_connector_revert(cm_connector *c, size_t i, struct cm_value args, struct cm_value result,
                         cm_call_fn fn, void *user, cm_call **out)
{
    cm_call *call = begin(c, i, fn, user);

    *out = call;
    if (may_send(call, i, true))
        c->ops->revert(c->self, i, args, result, call);
}

cm_status cm_connector__revert_json(struct cm_value args, struct cm_value result, struct cm_buf *out,
                                    struct cm_err *err)
{
    cm_buf_add_z(out, "{\"args\":");
    cm_status st = cm_value_to_tool_json(args, out, err);
    if (st != CM_OK)
        return st;
    if (result.json.len) {
        cm_buf_add_z(out, ",\"result\":");
        st = cm_value_to_tool_json(result, out, err);
        if (st != CM_OK)
            return st;
    }
    cm_buf_add_char(out, '}');
    return cm_buf_check(out, "the arguments of a revert", err);
}

void cm_call__set_state(cm_call *call, void *state)
{
    call->state = state;
}

void *cm_call__state(const cm_call *call)
{
    return call->state;
}

uint32_t cm_call__timeout_ms(const cm_call *call)
{
    return call->timeout_ms;
}

const char *cm_call__execution(const cm_call *call)
{
    return call->execution;
}

const char *cm_call__method(const cm_call *call)
{
    return call->method;
}
