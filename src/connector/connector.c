/*
 * The state machine of a connector, its waiters and its name index. Calls are in call.c.
 *
 *   IDLE --ensure--> STARTING --__ready--> READY --__failed (it died)--> FAILED
 *                       |  ^                                               |
 *                       |  '------- ensure, 5 s after the last start ------'
 *                       '--__failed, or the start's time limit--> FAILED
 *
 * An implementation that is late (ready after its time limit) still makes it READY: what works is not
 * refused. __ready in READY means that the method table changed.
 */
#include "connector/connector.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/names.h"
#include "connector/internal.h"

#include <stdio.h>

#define RETRY_MS            5000
#define START_TIMEOUT_MS    30000
#define CALL_TIMEOUT_MS     60000
#define WARNINGS_MAX        1000
#define UNKNOWN_MAX_NEAREST 3
#define UNKNOWN_NAME_SHOWN  80

static void tell(void *user);

static void start_timed_out(void *user)
{
    cm_connector *c = user;
    struct cm_err err;

    (void)cm_err_set(&err, CM_E_TIMEOUT, "did not become ready within %u ms", c->start_timeout_ms);
    cm_connector__failed(c, &err);
}

cm_connector *cm_connector_new(cm_loop *loop, const struct cm_connector_ops *ops, void *take_self,
                               const char *name, const char *origin, uint32_t start_timeout_ms,
                               uint32_t timeout_ms, const cm_secrets *secrets)
{
    cm_connector *c = cm_new(cm_connector);

    c->loop = loop;
    c->ops = ops;
    c->self = take_self;
    c->name = cm_strdup(name);
    c->origin = cm_strdup(origin ? origin : name);
    c->secrets = secrets;
    c->start_timeout_ms = start_timeout_ms ? start_timeout_ms : START_TIMEOUT_MS;
    c->timeout_ms = timeout_ms ? timeout_ms : CALL_TIMEOUT_MS;
    c->error = cm_strdup("");
    c->done_tail = &c->done;
    c->soon = cm_soon_new(loop, tell, c);
    c->start_timer = cm_timer_new(loop, start_timed_out, c);
    return c;
}

static void clear_warnings(cm_connector *c)
{
    for (size_t i = 0; i < c->n_warnings; i++)
        free(c->warnings[i]);
    free(c->warnings);
    c->warnings = NULL;
    c->n_warnings = 0;
}

void cm_connector_free(cm_connector *c)
{
    if (!c)
        return;
    if (c->gone)
        *c->gone = true;
    cm_connector__end_calls(c);
    cm_timer_free(c->start_timer);
    cm_soon_free(c->soon);
    c->ops->free(c->self);
    clear_warnings(c);
    cm_namemap_done(&c->index);
    free(c->waiters);
    free(c->error);
    free(c->origin);
    free(c->name);
    free(c);
}

const char *cm_connector_name(const cm_connector *c)
{
    return c->name;
}

const char *cm_connector_kind(const cm_connector *c)
{
    return c->ops->kind;
}

const char *cm_connector_origin(const cm_connector *c)
{
    return c->origin;
}

enum cm_connector_state cm_connector_state(const cm_connector *c)
{
    return c->state;
}

const char *cm_connector_error(const cm_connector *c)
{
    return c->error;
}

size_t cm_connector_warnings(const cm_connector *c, const char *const **out)
{
    *out = (const char *const *)c->warnings;
    return c->n_warnings;
}

const char *cm_connector_instructions(const cm_connector *c)
{
    return c->state == CM_CONN_READY && c->ops->instructions ? c->ops->instructions(c->self) : NULL;
}

/* ---- executions ---- */

void cm_connector_serve(cm_connector *c, const char *execution)
{
    (void)snprintf(c->execution, sizeof c->execution, "%s", execution);
}

void cm_connector_pass_end(cm_connector *c, const char *execution, const char *status)
{
    if (c->ops->pass_end)
        c->ops->pass_end(c->self, execution, status);
}

void cm_connector_dispose(cm_connector *c, const char *execution, const char *status)
{
    if (c->ops->dispose)
        c->ops->dispose(c->self, execution, status);
}

/* ---- starting ---- */

static void start(cm_connector *c)
{
    free(c->error);
    c->error = cm_strdup("");
    clear_warnings(c);
    c->state = CM_CONN_STARTING;
    c->ever_started = true;
    c->started_at = cm_mono_ms();
    cm_timer_start(c->start_timer, c->start_timeout_ms);
    c->ops->start(c->self, c);
}

static bool may_start(const cm_connector *c)
{
    switch (c->state) {
    case CM_CONN_IDLE:
        return true;
    case CM_CONN_FAILED:
        /* Counted from the last start, so that a server that ran for an hour and died is started again at
         * once. */
        return !c->ever_started || cm_mono_ms() - c->started_at >= RETRY_MS;
    case CM_CONN_STARTING:
    case CM_CONN_READY:
        return false;
    }
    return false;
}

void cm_connector_ensure(cm_connector *c, cm_connector_fn fn, void *user)
{
    if (fn) {
        c->waiters = cm_realloc(c->waiters, (c->n_waiters + 1) * sizeof *c->waiters);
        c->waiters[c->n_waiters++] = (struct cm_connector_waiter){fn, user};
    }
    if (may_start(c))
        start(c);
    if (c->state != CM_CONN_STARTING && c->n_waiters)
        cm_soon_post(c->soon);
}

void cm_connector_forget(cm_connector *c, void *user)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->n_waiters; i++)
        if (c->waiters[i].user != user)
            c->waiters[kept++] = c->waiters[i];
    c->n_waiters = kept;
}

/* Waiters are taken one at a time: a callback may ensure, forget or free. */
static void tell(void *user)
{
    cm_connector *c = user;
    bool gone = false;
    size_t n = c->n_waiters;

    if (!cm_connector__deliver_calls(c))
        return;
    c->gone = &gone;
    while (n-- > 0 && c->n_waiters > 0 && (c->state == CM_CONN_READY || c->state == CM_CONN_FAILED)) {
        struct cm_connector_waiter w = c->waiters[0];
        c->n_waiters--;
        memmove(c->waiters, c->waiters + 1, c->n_waiters * sizeof *c->waiters);
        w.fn(w.user, c);
        if (gone)
            return;
    }
    c->gone = NULL;
}

static void settle(cm_connector *c, enum cm_connector_state state)
{
    c->state = state;
    cm_timer_stop(c->start_timer);
    if (c->n_waiters)
        cm_soon_post(c->soon);
}

void cm_connector__ready(cm_connector *c)
{
    const struct cm_method *methods = NULL;
    size_t n = c->ops->methods(c->self, &methods);

    cm_namemap_done(&c->index);
    for (size_t i = 0; i < n; i++)
        cm_namemap_put(&c->index, methods[i].name, i);
    free(c->error);
    c->error = cm_strdup("");
    c->generation++;
    settle(c, CM_CONN_READY);
}

static char *redacted(const cm_connector *c, const char *text)
{
    char *clean = cm_secrets_redact(c->secrets, cm_str_of(text), NULL);

    return clean ? clean : cm_strdup(text);
}

void cm_connector__failed(cm_connector *c, const struct cm_err *err)
{
    cm_autofree char *text = cm_asprintf("%s: %s", c->name, err->message);

    free(c->error);
    c->error = redacted(c, text);
    cm_namemap_done(&c->index);
    settle(c, CM_CONN_FAILED);
}

void cm_connector__warn(cm_connector *c, const char *fmt, ...)
{
    char text[CM_ERR_MAX_BYTES];
    va_list ap;

    if (c->n_warnings >= WARNINGS_MAX)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (c->n_warnings == WARNINGS_MAX - 1)
        (void)snprintf(text, sizeof text, "there are more warnings than the %d shown", WARNINGS_MAX - 1);
    cm_autofree char *whole = cm_asprintf("%s: %s", c->name, text);
    c->warnings = cm_realloc(c->warnings, (c->n_warnings + 1) * sizeof *c->warnings);
    c->warnings[c->n_warnings++] = redacted(c, whole);
}

const cm_secrets *cm_connector__secrets(const cm_connector *c)
{
    return c->secrets;
}

void *cm_connector__self(const cm_connector *c, const struct cm_connector_ops *ops)
{
    return c->ops == ops ? c->self : NULL;
}

/* ---- the method table ---- */

long cm_connector_find(const cm_connector *c, struct cm_str method)
{
    return c->state == CM_CONN_READY ? cm_namemap_get(&c->index, method) : -1;
}

uint64_t cm_connector_generation(const cm_connector *c)
{
    return c->state == CM_CONN_READY ? c->generation : 0;
}

size_t cm_connector_methods(const cm_connector *c, const struct cm_method **out)
{
    *out = NULL;
    return c->state == CM_CONN_READY ? c->ops->methods(c->self, out) : 0;
}

void cm_connector_schemas(const cm_connector *c, size_t i, struct cm_schema_ref *input,
                          struct cm_schema_ref *output)
{
    *input = *output = (struct cm_schema_ref){0};
    if (c->state == CM_CONN_READY && c->ops->schemas)
        c->ops->schemas(c->self, i, input, output);
}

cm_status cm_connector_check(const cm_connector *c, size_t i, struct cm_value args, struct cm_err *err)
{
    return c->state == CM_CONN_READY && c->ops->check ? c->ops->check(c->self, i, args, err) : CM_OK;
}

struct nearest {
    const char *name;
    unsigned distance;
};

static void offer(struct nearest *best, const char *name, unsigned distance)
{
    for (size_t i = 0; i < UNKNOWN_MAX_NEAREST; i++) {
        if (best[i].name && best[i].distance <= distance)
            continue;
        memmove(best + i + 1, best + i, (UNKNOWN_MAX_NEAREST - 1 - i) * sizeof *best);
        best[i] = (struct nearest){name, distance};
        return;
    }
}

/* A name that holds the other whole ranks behind the typing errors; one that is the upstream's spelling ranks
 * before. */
static bool looks_like(const struct cm_method *m, struct cm_str wanted, const char *identifier,
                       unsigned *distance)
{
    size_t len = strlen(m->name);
    unsigned most = wanted.len < 6 ? 2 : 3;

    if (cm_str_eq_z(wanted, m->origin) || cm_z_eq(identifier, m->name)) {
        *distance = 0;
        return true;
    }
    if (len <= wanted.len + most && wanted.len <= len + most) {
        *distance = 1 + cm_name_distance(wanted, cm_str_mk(m->name, len));
        if (*distance <= 1 + most)
            return true;
    }
    *distance = 10 + (unsigned)(len > wanted.len ? len - wanted.len : wanted.len - len);
    return wanted.ptr && wanted.len >= 4 && len >= 4 &&
           (memmem(m->name, len, wanted.ptr, wanted.len) || memmem(wanted.ptr, wanted.len, m->name, len));
}

static size_t find_nearest(const struct cm_method *methods, size_t n, struct cm_str wanted,
                           struct nearest *best)
{
    cm_autofree char *identifier = cm_name_to_identifier(wanted);
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned distance = 0;
        if (looks_like(&methods[i], wanted, identifier, &distance))
            offer(best, methods[i].name, distance);
    }
    while (found < UNKNOWN_MAX_NEAREST && best[found].name)
        found++;
    return found;
}

static void say_what_there_is(struct cm_buf *b, const cm_connector *c, const struct cm_method *methods,
                              size_t n)
{
    if (n == 0) {
        cm_buf_add_z(b, " It has no methods.");
    } else if (n <= 12) {
        cm_buf_add_z(b, " Its methods are ");
        for (size_t i = 0; i < n; i++)
            cm_buf_addf(b, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", methods[i].name);
        cm_buf_add_char(b, '.');
    } else {
        cm_buf_addf(b, " It has %zu methods; codemode.search(\"%s …\") finds them.", n, c->name);
    }
}

char *cm_connector_unknown(const cm_connector *c, struct cm_str method)
{
    cm_autobuf b = CM_BUF_INIT(16384);
    struct nearest best[UNKNOWN_MAX_NEAREST] = {{0}};
    const struct cm_method *methods = NULL;
    struct cm_str shown = {method.ptr, method.len > UNKNOWN_NAME_SHOWN ? UNKNOWN_NAME_SHOWN : method.len};

    if (c->state != CM_CONN_READY)
        return cm_asprintf("%s is not available: %s", c->name, c->error[0] ? c->error : "it has not started");
    size_t n = cm_connector_methods(c, &methods);
    size_t found = find_nearest(
        methods, n, cm_str_mk(method.ptr, method.len > CM_NAME_MAX_BYTES ? CM_NAME_MAX_BYTES : method.len),
        best);
    cm_buf_addf(&b, "%s has no method '%.*s'.", c->name, CM_STR_ARG(shown));
    if (found) {
        cm_buf_add_z(&b, " Did you mean ");
        for (size_t i = 0; i < found; i++)
            cm_buf_addf(&b, "%s%s.%s", i == 0 ? "" : i + 1 == found ? " or " : ", ", c->name, best[i].name);
        cm_buf_add_char(&b, '?');
    } else {
        say_what_there_is(&b, c, methods, n);
    }
    return cm_buf_take(&b, NULL);
}
