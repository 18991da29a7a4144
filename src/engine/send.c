/* What a program's realm asks of C: the realm's one way out, an operation for each thing that leaves it. */
#include "engine/internal.h"

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
    SEND_SNIPPET,
    SEND_LINE,
    SEND_OP_COUNT_
};

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

/* What the n-th argument, a stack's text, says of the program. What that has done to its errors decides at most what place it is told. */
static struct cm_call_place arg_place(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                                      size_t n_args)
{
    struct cm_call_place at = {0};
    cm_autofree char *stack = NULL;
    struct cm_str text;

    if (n < n_args && JSValueIsString(ctx, args[n]) && arg_text(ctx, n, args, n_args, &stack, &text))
        cm_program__place(&r->program, text, &at);
    return at;
}

/* send(0, kind, connector, method, json, marks, stack, step) → id */
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
    struct cm_call_place at = arg_place(r, ctx, 6, args, n);
    at.step = arg_u32(ctx, 7, args, n);
    r->host->call(r->user, id, kind, connector_s, method_s, value, at);
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

/* send(5, id): a timer that was cleared; or a connector's call that its program gave up, whose outcome still comes */
static JSValueRef send_cancel(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                              JSValueRef *exception)
{
    uint32_t id = arg_u32(ctx, 1, args, n);
    struct call *c = id > 0 && id <= r->n_calls ? &r->calls[id - 1] : NULL;

    if (!c || (c->kind != KIND_TIMER && c->kind != KIND_TOOL) || c->state != CALL_OUTSTANDING)
        return throw_text(ctx, "Nothing is under way that could be cancelled", exception);
    if (c->kind == KIND_TIMER) {
        c->state = CALL_CANCELLED;
        r->n_outstanding--;
        r->n_timers--;
    }
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
    return cm_script__evaluate(r->e, &r->e->web[script], r->ctx, r->e->web_url, exception);
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

/*
 * send(10, name, code) → the function that a snippet is, evaluated in the program's own realm; DONE's meta as text when it does not
 * parse. Only the prelude can ask; a program that could would gain nothing, since it may evaluate whatever text it likes.
 */
static JSValueRef send_snippet(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                               JSValueRef *exception)
{
    struct cm_program p __attribute__((cleanup(cm_program_done))) = {0};
    cm_autojs name = n > 1 ? JSValueToStringCopy(ctx, args[1], NULL) : NULL;
    cm_autojs code = n > 2 ? JSValueToStringCopy(ctx, args[2], NULL) : NULL;
    cm_autojs url = NULL;

    if (!name || !code || cm_engine__snippet(r->e, name, code, &p, &url, NULL) != CM_OK)
        return throw_no_memory(ctx, "Out of memory: the snippet does not fit into memory", exception);
    if (p.error_json)
        return cm_js__value(ctx, cm_str_of(p.error_json));
    return JSEvaluateScript(r->ctx, p.run, NULL, url, p.line, exception);
}

/* send(11, stack) → the line of the program's innermost frame in it, 0 where there is none */
static JSValueRef send_line(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                            JSValueRef *exception)
{
    (void)exception;
    return JSValueMakeNumber(ctx, arg_place(r, ctx, 1, args, n).line);
}

typedef JSValueRef send_fn(cm_realm *r, JSContextRef ctx, size_t n, const JSValueRef *args,
                           JSValueRef *exception);

static send_fn *const send_table[SEND_OP_COUNT_] = {
    [SEND_CALL] = send_call,       [SEND_STEP_END] = send_step_end, [SEND_LOG] = send_log,
    [SEND_SETTLED] = send_settled, [SEND_RESULT] = send_result,     [SEND_CANCEL] = send_cancel,
    [SEND_LOAD] = send_load,       [SEND_LOCATE] = send_locate,     [SEND_TARGET] = send_target,
    [SEND_MODULE] = send_module,   [SEND_SNIPPET] = send_snippet,   [SEND_LINE] = send_line,
};

/* The realm's one way out. Without its realm (freed) or after the result it does nothing. */
JSValueRef cm_realm__on_send(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t n,
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
