/*
 * One pass. The realm's prelude (js/prelude) and this folder speak through two functions:
 *
 *   control(op, ...)   C to script   an enum control_op; the arguments are text, numbers and booleans
 *   send(op, ...)      script to C   send.c; js/prelude/state.js has the same numbers
 *
 * The engine drains its microtasks whenever an outermost API call returns, so after control() the program
 * stands still: it has settled (SEND_SETTLED came), waits for calls that are outstanding, or waits for what
 * can never come.
 */
#include "engine/internal.h"

#include <assert.h>

enum control_op {
    CONTROL_BIND,
    CONTROL_BEGIN,
    CONTROL_RUN,
    CONTROL_DELIVER,
    CONTROL_FINISH,
    CONTROL_NEVER_SETTLES,
    CONTROL_FAIL
};
/* ---- C → script ---- */

static cm_status control(cm_realm *r, enum control_op op, size_t n, const JSValueRef *args,
                         struct cm_err *err)
{
    JSValueRef all[8], exception = NULL;

    assert(n < CM_ARRAY_LEN(all));
    all[0] = JSValueMakeNumber(r->ctx, op);
    for (size_t i = 0; i < n; i++)
        all[i + 1] = args[i];
    if (!JSObjectCallAsFunction(r->ctx, r->control, NULL, n + 1, all, &exception))
        return cm_js__fail(r->ctx, exception, "the prelude", err);
    return CM_OK;
}

static cm_status load_prelude(cm_realm *r, struct cm_err *err)
{
    cm_engine *e = r->e;
    JSValueRef exception = NULL, v, arg;

    v = cm_script__evaluate(e, &e->prelude, r->ctx, e->prelude_url, &exception);
    if (!v)
        return cm_js__fail(r->ctx, exception, "the prelude bundle", err);
    r->send = JSObjectMake(r->ctx, e->send_class, r);
    JSValueProtect(r->ctx, r->send);
    arg = r->send;
    v = JSObjectCallAsFunction(r->ctx, JSValueToObject(r->ctx, v, NULL), NULL, 1, &arg, &exception);
    if (!v || !JSValueIsObject(r->ctx, v))
        return cm_js__fail(r->ctx, exception, "the prelude bundle", err);
    r->control = JSValueToObject(r->ctx, v, NULL);
    JSValueProtect(r->ctx, r->control);
    JSGlobalContextSetUnhandledRejectionCallback(r->ctx, r->control, &exception);
    return CM_OK;
}

cm_status cm_realm__new(cm_engine *e, cm_realm **out, struct cm_err *err)
{
    cm_auto(cm_realm) r = cm_new(cm_realm);
    cm_status st;

    if (!e->send_class) {
        JSClassDefinition def = kJSClassDefinitionEmpty;

        def.className = "Send";
        def.attributes = kJSClassAttributeNoAutomaticPrototype;
        def.callAsFunction = cm_realm__on_send;
        e->send_class = JSClassCreate(&def);
        e->inert = JSObjectMake(e->service, e->send_class, NULL);
        JSValueProtect(e->service, e->inert);
    }
    r->e = e;
    r->ctx = JSGlobalContextCreateInGroup(e->group, NULL);
    st = load_prelude(r, err);
    if (st != CM_OK)
        return st;
    *out = cm_steal(&r);
    return CM_OK;
}

void cm_realm_free(cm_realm *r)
{
    if (!r)
        return;
    /*
     * The realm would keep its own function, and so itself, for ever: it gets one that does nothing instead. No function of the service
     * realm that does anything is ever within reach of a value of a program.
     */
    if (r->control)
        JSGlobalContextSetUnhandledRejectionCallback(r->ctx, r->e->inert, NULL);
    if (r->send) {
        (void)JSObjectSetPrivate(r->send, NULL);
        JSValueUnprotect(r->ctx, r->send);
    }
    if (r->control)
        JSValueUnprotect(r->ctx, r->control);
    if (r->ctx)
        JSGlobalContextRelease(r->ctx);
    cm_js__release(&r->source);
    cm_program_done(&r->program);
    free(r->calls);
    free(r->json);
    free(r->marks);
    free(r->meta);
    free(r);
}

/* ---- the pass ---- */

/* A result of ours where the realm could not even say what went wrong (its memory is exhausted). */
static void finish_without_script(cm_realm *r, const char *meta)
{
    free(r->meta);
    r->meta = cm_strdup(meta);
    r->result = (struct cm_realm_result){.failed = true, .meta_json = cm_str_of(r->meta)};
    r->done = true;
}

/*
 * Whether something of the program is still to come. What it did not await counts once it has ended; a timer
 * does not, or every time limit of the program's own would hold up its result, but for a step that may wait for one.
 */
static bool is_under_way(const cm_realm *r)
{
    if (!r->settled)
        return r->n_outstanding > 0;
    return r->n_outstanding > (r->n_steps > 0 ? 0 : r->n_timers);
}

/* The microtasks have drained: is it over? */
static void settle(cm_realm *r)
{
    static const char no_memory[] = "{\"error\":{\"name\":\"RangeError\",\"message\":\"Out of memory: the "
                                    "result could not be put together\"}}";

    if (r->done || is_under_way(r))
        return;
    if (control(r, r->settled ? CONTROL_FINISH : CONTROL_NEVER_SETTLES, 0, NULL, NULL) != CM_OK || !r->done)
        finish_without_script(r, no_memory);
}

/* Make the connectors' globals. A realm prepared ahead has those of the pass before, which most often is what
 * the next one needs. */
static cm_status bind_globals(cm_realm *r, struct cm_err *err)
{
    JSValueRef arg = cm_js__value(r->ctx, cm_buf_str(&r->e->bind_json));

    r->bound = true;
    return control(r, CONTROL_BIND, 1, &arg, err);
}

static cm_status begin(cm_realm *r, const struct cm_realm_opts *opts, struct cm_err *err)
{
    static const char digits[] = "0123456789abcdef";
    char seed[33];
    JSValueRef args[4];

    for (size_t i = 0; i < 16; i++) {
        seed[2 * i] = digits[opts->seed[i] >> 4];
        seed[2 * i + 1] = digits[opts->seed[i] & 15];
    }
    args[0] = cm_js__value(r->ctx, cm_str_mk(seed, 32));
    args[1] = JSValueMakeNumber(r->ctx, (double)opts->now_ms);
    args[2] = cm_js__value(r->ctx, opts->input.json);
    args[3] = cm_js__value(r->ctx, opts->input.marks);
    return control(r, CONTROL_BEGIN, CM_ARRAY_LEN(args), args, err);
}

/* Evaluate the wrapped text, which only makes a function, and run that. What the engine refuses is the
 * program's failure. */
static cm_status run(cm_realm *r, struct cm_err *err)
{
    const struct cm_program *p = &r->program;
    JSValueRef exception = NULL, args[4];
    JSValueRef program = JSEvaluateScript(r->ctx, p->run, NULL, r->e->program_url, p->line, &exception);

    args[0] = program ? program : exception;
    args[1] = JSValueMakeString(r->ctx, r->source);
    args[2] = JSValueMakeString(r->ctx, p->map);
    args[3] = JSValueMakeString(r->ctx, p->warnings);
    return control(r, program ? CONTROL_RUN : CONTROL_FAIL, CM_ARRAY_LEN(args), args, err);
}

/* The prepared realm, or a new one, with the globals of this pass. */
static cm_status take_realm(cm_engine *e, struct cm_str bind_json, cm_realm **out, struct cm_err *err)
{
    cm_auto(cm_realm) r = NULL;
    cm_status st = CM_OK;

    if (!cm_str_eq(cm_buf_str(&e->bind_json), bind_json)) {
        cm_buf_clear(&e->bind_json);
        cm_buf_add_str(&e->bind_json, bind_json);
        st = cm_buf_check(&e->bind_json, "the list of connectors", err);
        if (e->next && e->next->bound) {
            cm_realm_free(e->next);
            e->next = NULL;
        }
    }
    if (st != CM_OK)
        return st;
    r = cm_steal(&e->next);
    if (!r)
        st = cm_realm__new(e, &r, err);
    if (st == CM_OK && !r->bound)
        st = bind_globals(r, err);
    if (st == CM_OK)
        *out = cm_steal(&r);
    return st;
}

void cm_engine_prepare_realm(cm_engine *e)
{
    if (e->next || e->one_shot)
        return;
    /* What fails here fails again, and is reported, when the realm is needed. */
    if (cm_realm__new(e, &e->next, NULL) == CM_OK && e->bind_json.len > 0 &&
        bind_globals(e->next, NULL) != CM_OK) {
        cm_realm_free(e->next);
        e->next = NULL;
    }
}

/** What runs with the program's stack: its start, and each delivery. */
struct turn {
    cm_realm *r;
    const struct cm_realm_opts *opts; /* the start */
    const JSValueRef *args;           /* a delivery's */
    size_t n_args;
    struct cm_err *err;
    cm_status st;
};

static void start_turn(void *user)
{
    struct turn *t = user;

    t->st = begin(t->r, t->opts, t->err);
    if (t->st == CM_OK)
        t->st = run(t->r, t->err);
    if (t->st == CM_OK)
        settle(t->r);
}

static void deliver_turn(void *user)
{
    struct turn *t = user;

    t->st = control(t->r, CONTROL_DELIVER, t->n_args, t->args, t->err);
    if (t->st == CM_OK)
        settle(t->r);
}

cm_status cm_realm_start(cm_engine *e, const struct cm_realm_opts *opts, cm_realm **out, struct cm_err *err)
{
    cm_autojs source = cm_js__string(opts->source);
    struct cm_program p __attribute__((cleanup(cm_program_done))) = {0};
    cm_auto(cm_realm) r = NULL;
    cm_status st = cm_engine__normalize(e, source, opts->input.json.len > 0, opts->bind_json, &p, err);

    if (st == CM_OK)
        st = take_realm(e, opts->bind_json, &r, err);
    if (st != CM_OK)
        return st;
    r->host = opts->host;
    r->user = opts->user;
    r->stack_kb = opts->stack_kb;
    r->source = cm_steal(&source);
    r->program = p;
    p = (struct cm_program){0};
    if (r->program.error_json) {
        finish_without_script(r, r->program.error_json);
    } else {
        struct turn t = {.r = r, .opts = opts, .err = err};
        cm_engine__on_stack(r->stack_kb, start_turn, &t);
        if (t.st != CM_OK)
            return t.st;
    }
    *out = cm_steal(&r);
    return CM_OK;
}

enum cm_realm_state cm_realm_state(const cm_realm *r)
{
    return r->done ? CM_REALM_DONE : CM_REALM_WAITING;
}

const struct cm_realm_result *cm_realm_result(const cm_realm *r)
{
    assert(r->done);
    return &r->result;
}

static cm_status take_outstanding(cm_realm *r, uint32_t id, bool execute, struct cm_err *err)
{
    struct call *c = id > 0 && id <= r->n_calls ? &r->calls[id - 1] : NULL;

    if (!r->done && c && c->state == CALL_CANCELLED && !execute) {
        c->state = CALL_SETTLED; /* it was on its way when the program cleared it */
        return CM_OK;
    }
    if (r->done || !c || c->state != CALL_OUTSTANDING)
        return cm_err_set(err, CM_E_PROTOCOL, "an outcome for call %u, which is not outstanding", id);
    if (execute && c->kind != KIND_STEP && c->kind != KIND_RUN)
        return cm_err_set(err, CM_E_PROTOCOL, "call %u is no step and cannot be executed here", id);
    c->state = execute ? CALL_STEP_RUNS : CALL_SETTLED;
    r->n_outstanding--;
    r->n_timers -= c->kind == KIND_TIMER;
    r->n_steps += execute;
    return CM_OK;
}

cm_status cm_realm_deliver(cm_realm *r, uint32_t id, bool failed, bool execute, struct cm_value value,
                           int64_t now_ms, uint32_t draw, struct cm_err *err)
{
    JSValueRef args[7];
    cm_status st = take_outstanding(r, id, execute, err);

    if (st != CM_OK)
        return st;
    args[0] = JSValueMakeNumber(r->ctx, id);
    args[1] = JSValueMakeBoolean(r->ctx, failed);
    args[2] = JSValueMakeBoolean(r->ctx, execute);
    args[3] = cm_js__value(r->ctx, value.json);
    args[4] = cm_js__value(r->ctx, value.marks);
    args[5] = JSValueMakeNumber(r->ctx, (double)now_ms);
    args[6] = JSValueMakeNumber(r->ctx, draw);
    struct turn t = {.r = r, .args = args, .n_args = CM_ARRAY_LEN(args), .err = err};
    cm_engine__on_stack(r->stack_kb, deliver_turn, &t);
    return t.st;
}

bool cm_realm_has_ended(const cm_realm *r, bool *failed)
{
    *failed = r->failed;
    return r->settled && !r->done;
}

static void finish_turn(void *user)
{
    struct turn *t = user;

    t->r->n_outstanding = t->r->n_timers = t->r->n_steps = 0; /* nobody owes an answer any more */
    settle(t->r);
}

cm_status cm_realm_finish(cm_realm *r, struct cm_err *err)
{
    struct turn t = {.r = r, .err = err};

    if (!r->settled || r->done)
        return cm_err_set(err, CM_E_PROTOCOL, "the end of a program that has not ended");
    cm_engine__on_stack(r->stack_kb, finish_turn, &t);
    return CM_OK;
}
