/*
 * One pass. The realm's prelude (js/prelude) and this file speak through two functions:
 *
 *   control(op, ...)   C to script   an enum control_op; the arguments are text, numbers and booleans
 *   send(op, ...)      script to C   an enum send_op; js/prelude/state.js has the same numbers
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
enum send_op {
    SEND_CALL,
    SEND_STEP_END,
    SEND_LOG,
    SEND_SETTLED,
    SEND_RESULT,
    SEND_CANCEL,
    SEND_LOAD,
    SEND_LOCATE,
    SEND_TARGET = 8,
    SEND_MODULE,
    SEND_OP_COUNT_
};

/* enum cm_call_kind of the wire, which this layer may not include. */
#define KIND_STEP  1
#define KIND_TIMER 4
#define KIND_COUNT 5

enum call_state { CALL_NONE, CALL_OUTSTANDING, CALL_STEP_RUNS, CALL_CANCELLED, CALL_SETTLED };

struct call {
    uint8_t kind;
    uint8_t state;
};

struct cm_realm {
    cm_engine *e;
    JSGlobalContextRef ctx;
    JSObjectRef control;
    JSObjectRef send;
    const struct cm_realm_host *host;
    void *user;
    struct call *calls; /* by id - 1 */
    uint32_t n_calls;
    uint32_t cap_calls;
    uint32_t n_outstanding; /* answers that the host owes */
    uint32_t n_timers;      /* those of timers among them */
    uint32_t n_steps;       /* steps whose function runs */
    uint32_t stack_kb;      /* what the program may use of the stack */
    JSStringRef source;     /* the program as submitted, and as it runs: for places in it */
    struct cm_program program;
    bool bound;   /* its globals are those of the engine's bind_json */
    bool settled; /* the program's promise has settled */
    bool failed;  /* it was rejected */
    bool done;    /* the result stands; what the program still does is nobody's business */
    struct cm_realm_result result;
    char *json, *marks, *meta; /* what result borrows */
};

/* ---- script → C ---- */

/* The n-th argument as text: an owned copy, empty when absent. False: memory is short. */
static bool arg_text(JSContextRef ctx, size_t n, const JSValueRef *args, size_t n_args, char **text,
                     struct cm_str *out)
{
    size_t len = 0;

    if (n < n_args)
        *text = cm_js__text(ctx, args[n], &len);
    *out = cm_str_mk(*text, len);
    return *text != NULL;
}

static uint32_t arg_u32(JSContextRef ctx, size_t n, const JSValueRef *args, size_t n_args)
{
    double d = n < n_args ? JSValueToNumber(ctx, args[n], NULL) : 0;

    return d > 0 && d < 4294967296.0 ? (uint32_t)d : 0;
}

static JSValueRef throw_text(JSContextRef ctx, const char *text, JSValueRef *exception)
{
    JSValueRef message = cm_js__value(ctx, cm_str_of(text));

    *exception = JSObjectMakeError(ctx, 1, &message, NULL);
    return NULL;
}

/** Like the engine's own, by which the host knows the memory limit. */
static JSValueRef throw_no_memory(JSContextRef ctx, const char *text, JSValueRef *exception)
{
    cm_autojs key = JSStringCreateWithUTF8CString("name");

    (void)throw_text(ctx, text, exception);
    JSObjectSetProperty(ctx, (JSObjectRef)(uintptr_t)*exception, key, cm_js__value(ctx, CM_STR("RangeError")),
                        kJSPropertyAttributeDontEnum, NULL);
    return NULL;
}

static uint32_t new_call(cm_realm *r, unsigned kind)
{
    if (r->n_calls == r->cap_calls) {
        uint32_t cap = r->cap_calls ? r->cap_calls * 2 : 16;
        struct call *grown =
            r->cap_calls < (1U << 30) ? cm_try_realloc(r->calls, cap * sizeof(*grown)) : NULL;

        if (!grown)
            return 0;
        r->calls = grown;
        r->cap_calls = cap;
    }
    r->calls[r->n_calls++] = (struct call){(uint8_t)kind, CALL_OUTSTANDING};
    r->n_outstanding++;
    r->n_timers += kind == KIND_TIMER;
    return r->n_calls;
}

/* send(0, kind, connector, method, json, marks, line, column) → id */
static JSValueRef send_call(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                            JSValueRef *exception)
{
    cm_autofree char *connector = NULL, *method = NULL, *json = NULL, *marks = NULL;
    struct cm_str connector_s, method_s;
    struct cm_value value;
    unsigned kind = arg_u32(ctx, 1, args, n);
    uint32_t id;

    if (kind >= KIND_COUNT || !arg_text(ctx, 2, args, n, &connector, &connector_s) ||
        !arg_text(ctx, 3, args, n, &method, &method_s) || !arg_text(ctx, 4, args, n, &json, &value.json) ||
        !arg_text(ctx, 5, args, n, &marks, &value.marks))
        return throw_no_memory(ctx, "Out of memory: the arguments of this call do not fit into memory",
                               exception);
    id = new_call(r, kind);
    if (!id)
        return throw_text(ctx, "Too many calls", exception);
    r->host->call(r->user, id, kind, connector_s, method_s, value, arg_u32(ctx, 6, args, n),
                  arg_u32(ctx, 7, args, n));
    return JSValueMakeNumber(ctx, id);
}

/* send(1, id, failed, json, marks) */
static JSValueRef send_step_end(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                                JSValueRef *exception)
{
    cm_autofree char *json = NULL, *marks = NULL;
    struct cm_value value;
    uint32_t id = arg_u32(ctx, 1, args, n);

    if (id == 0 || id > r->n_calls || r->calls[id - 1].state != CALL_STEP_RUNS)
        return throw_text(ctx, "This step does not run", exception);
    if (!arg_text(ctx, 3, args, n, &json, &value.json) || !arg_text(ctx, 4, args, n, &marks, &value.marks))
        return throw_no_memory(ctx, "Out of memory: the value of this step does not fit into memory",
                               exception);
    r->calls[id - 1].state = CALL_OUTSTANDING;
    r->n_outstanding++;
    r->n_steps--;
    r->host->step_end(r->user, id, JSValueToBoolean(ctx, args[2]), value);
    return JSValueMakeUndefined(ctx);
}

/* send(2, level, text) */
static JSValueRef send_log(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                           JSValueRef *exception)
{
    cm_autofree char *text = NULL;
    struct cm_str line;

    if (!arg_text(ctx, 2, args, n, &text, &line))
        return throw_no_memory(ctx, "Out of memory: this line does not fit into memory", exception);
    r->host->log(r->user, arg_u32(ctx, 1, args, n), line);
    return JSValueMakeUndefined(ctx);
}

/* send(3, failed) */
static JSValueRef send_settled(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                               JSValueRef *exception)
{
    (void)exception;
    r->settled = true;
    r->failed = n > 1 && JSValueToBoolean(ctx, args[1]);
    return JSValueMakeUndefined(ctx);
}

/* send(4, failed, json, marks, meta) */
static JSValueRef send_result(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    if (!arg_text(ctx, 2, args, n, &r->json, &r->result.value.json) ||
        !arg_text(ctx, 3, args, n, &r->marks, &r->result.value.marks) ||
        !arg_text(ctx, 4, args, n, &r->meta, &r->result.meta_json))
        return throw_no_memory(ctx, "Out of memory: the result does not fit into memory", exception);
    r->result.failed = JSValueToBoolean(ctx, args[1]);
    r->done = true;
    return JSValueMakeUndefined(ctx);
}

/* send(5, id) */
static JSValueRef send_cancel(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    uint32_t id = arg_u32(ctx, 1, args, n);
    struct call *c = id > 0 && id <= r->n_calls ? &r->calls[id - 1] : NULL;

    if (!c || c->kind != KIND_TIMER || c->state != CALL_OUTSTANDING)
        return throw_text(ctx, "This timer does not run", exception);
    c->state = CALL_CANCELLED;
    r->n_outstanding--;
    r->n_timers--;
    r->host->cancel(r->user, id);
    return JSValueMakeUndefined(ctx);
}

/*
 * send(6, n) → the value of the n-th script of the web interfaces (js/web), evaluated now, in the program's own realm and with its
 * rights: what it makes is no more than the program could have written itself, so nothing is let in that way. It runs inside of the
 * program's call; the engine does not drain its microtasks then.
 */
static JSValueRef send_load(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                            JSValueRef *exception)
{
    uint32_t script = arg_u32(ctx, 1, args, n);

    if (script >= r->e->n_web)
        return throw_text(ctx, "There is no such script", exception);
    return JSEvaluateScript(r->ctx, r->e->web[script], NULL, r->e->web_url, 1, exception);
}

/* send(7, asked) → text, empty when it is not known: cm_engine__locate */
static JSValueRef send_locate(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    cm_autojs asked = n > 1 ? JSValueToStringCopy(ctx, args[1], NULL) : NULL;
    cm_autojs found = asked && r->program.run ? cm_engine__locate(r->e, &r->program, r->source, asked) : NULL;

    (void)exception;
    return found ? JSValueMakeString(ctx, found) : cm_js__value(ctx, CM_STR(""));
}

/* In the engine's library, but in no public header. */
JSObjectRef JSObjectGetProxyTarget(JSObjectRef object);

#define FIRST_ADDRESS 4096 /* behind a revoked proxy stands the engine's word for null, which is no address */

/*
 * send(8, object) → what stands behind a proxy, undefined where there is none. For the console, which shows a proxy without calling its
 * traps. Only the prelude can ask, and it gives no target to the program, but as text.
 */
static JSValueRef send_target(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    JSObjectRef target = NULL;

    (void)r, (void)exception;
    if (n > 1 && JSValueIsObject(ctx, args[1]))
        target = JSObjectGetProxyTarget((JSObjectRef)(uintptr_t)args[1]);
    return (uintptr_t)target < FIRST_ADDRESS ? JSValueMakeUndefined(ctx) : target;
}

/*
 * send(9, name) → the function that a module of the configuration is, evaluated now in the program's own realm under a name of its own
 * for places; a text when it does not parse. The text of a module is the host's, but it gets no more than the program has.
 */
static JSValueRef send_module(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    struct cm_program p __attribute__((cleanup(cm_program_done))) = {0};
    cm_autojs name = n > 1 ? JSValueToStringCopy(ctx, args[1], NULL) : NULL;
    cm_autojs url = NULL;

    if (!name || !cm_engine__module(r->e, name, &p, &url))
        return throw_no_memory(ctx, "Out of memory: the module does not fit into memory", exception);
    if (p.error_json)
        return cm_js__value(ctx, cm_str_of(p.error_json));
    return JSEvaluateScript(r->ctx, p.run, NULL, url, p.line, exception);
}

typedef JSValueRef send_fn(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                           JSValueRef *exception);

static send_fn *const send_table[SEND_OP_COUNT_] = {
    [SEND_CALL] = send_call,       [SEND_STEP_END] = send_step_end, [SEND_LOG] = send_log,
    [SEND_SETTLED] = send_settled, [SEND_RESULT] = send_result,     [SEND_CANCEL] = send_cancel,
    [SEND_LOAD] = send_load,       [SEND_LOCATE] = send_locate,     [SEND_TARGET] = send_target,
    [SEND_MODULE] = send_module,
};

/* The realm's one way out. Without its realm (freed) or after the result it does nothing. */
static JSValueRef on_send(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t n,
                          const JSValueRef args[], JSValueRef *exception)
{
    cm_realm *r = JSObjectGetPrivate(function);
    uint32_t op;

    (void)self;
    /* Before any argument is read: reading may run the program's code. */
    if (!r || r->done)
        return JSValueMakeUndefined(ctx);
    op = arg_u32(ctx, 0, args, n);
    if (op >= SEND_OP_COUNT_ || !send_table[op])
        return JSValueMakeUndefined(ctx);
    return send_table[op](r, ctx, n, args, exception);
}

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

    v = JSEvaluateScript(r->ctx, e->prelude, NULL, e->prelude_url, 1, &exception);
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
        def.callAsFunction = on_send;
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
    if (e->next)
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
    if (execute && c->kind != KIND_STEP)
        return cm_err_set(err, CM_E_PROTOCOL, "call %u is no step and cannot be executed here", id);
    c->state = execute ? CALL_STEP_RUNS : CALL_SETTLED;
    r->n_outstanding--;
    r->n_timers -= c->kind == KIND_TIMER;
    r->n_steps += execute;
    return CM_OK;
}

cm_status cm_realm_deliver(cm_realm *r, uint32_t id, bool failed, bool execute, struct cm_value value,
                           int64_t now_ms, struct cm_err *err)
{
    JSValueRef args[6];
    cm_status st = take_outstanding(r, id, execute, err);

    if (st != CM_OK)
        return st;
    args[0] = JSValueMakeNumber(r->ctx, id);
    args[1] = JSValueMakeBoolean(r->ctx, failed);
    args[2] = JSValueMakeBoolean(r->ctx, execute);
    args[3] = cm_js__value(r->ctx, value.json);
    args[4] = cm_js__value(r->ctx, value.marks);
    args[5] = JSValueMakeNumber(r->ctx, (double)now_ms);
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
