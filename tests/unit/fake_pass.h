/**
 * A sandbox and a catalogue that do what a test says, in place of the real ones: each test plays the worker,
 * also a hostile one, event by event, and looks at what was delivered to it. To be included by one test file.
 */
#ifndef CM_TESTS_FAKE_PASS_H
#define CM_TESTS_FAKE_PASS_H

#include "catalog/catalog.h"
#include "sandbox/sandbox.h"

#include <stdlib.h>

#define FAKE_DELIVERED_MAX 4096

struct fake_delivery {
    uint32_t id;
    bool failed, execute;
    char *json;
    int64_t now;
    uint32_t draw;
};

struct cm_pass {
    struct cm_pass_events ev;
    void *user;
    char *bind, *source;
    uint8_t seed[16];
    int64_t started_at; /* the clock that it began with */
    struct fake_delivery got[FAKE_DELIVERED_MAX];
    size_t n_got;
    uint32_t last_id, n_turns;
    bool killed, finished, held;
    enum cm_pass_end_kind kind;
    char *code, *message;
};

static struct cm_pass *fake;     /* the pass under way */
static uint32_t fake_step;       /* id of the step in whose function calls are issued, or 0 */
static void (*fake_after)(void); /* what happens when a pass has ended: its end is on the disk */

cm_status cm_sandbox_admits(const cm_sandbox *sb, const char *runtime, struct cm_err *err)
{
    (void)sb, (void)runtime, (void)err;
    return CM_OK;
}

cm_status cm_sandbox_start(cm_sandbox *sb, const struct cm_pass_spec *spec, const struct cm_pass_events *ev,
                           void *user, cm_pass **out, struct cm_err *err)
{
    (void)sb;
    (void)err;
    fake = cm_new(struct cm_pass);
    fake->ev = *ev;
    fake->user = user;
    fake->bind = cm_memdup_z(spec->bind_json.ptr, spec->bind_json.len);
    fake->source = cm_memdup_z(spec->source.ptr, spec->source.len);
    memcpy(fake->seed, spec->seed, sizeof fake->seed);
    fake->started_at = spec->now_ms;
    *out = fake;
    return CM_OK;
}

void cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                     int64_t now_ms, uint32_t draw)
{
    if (p->killed)
        return;
    p->got[p->n_got++] = (struct fake_delivery){
        id, failed, execute, cm_memdup_z(value.json.ptr, value.json.len), now_ms, draw};
}

void cm_pass_finish(cm_pass *p)
{
    p->finished = true;
}

void cm_pass_stop(cm_pass *p, enum cm_pass_end_kind kind, const char *code, const char *message)
{
    if (p->killed)
        return;
    p->killed = true;
    p->kind = kind;
    p->code = cm_strdup(code);
    p->message = cm_strdup(message);
}

void cm_pass_hold(cm_pass *p)
{
    p->held = true;
}

bool cm_pass_release(cm_pass *p)
{
    p->held = false;
    return !p->killed;
}

uint32_t cm_pass_turns(const cm_pass *p)
{
    return p->n_turns;
}

int64_t cm_pass_pid(const cm_pass *p)
{
    (void)p;
    return 0;
}

/** The worker issues a call of the next id; returns the id. */
static uint32_t fake_call(enum cm_call_kind kind, const char *connector, const char *method, const char *args)
{
    uint32_t id = ++fake->last_id;

    fake->ev.on_call(fake->user, fake, id, kind, cm_str_of(connector), cm_str_of(method),
                     (struct cm_value){cm_str_of(args), CM_STR("")},
                     (struct cm_call_place){id + 1, 5, fake_step});
    return id;
}

__attribute__((unused)) static uint32_t fake_tool(const char *connector, const char *method, const char *args)
{
    return fake_call(CM_CALL_TOOL, connector, method, args);
}

/** The program stands still. */
__attribute__((unused)) static void fake_wait(void)
{
    fake->n_turns++;
    fake->ev.on_wait(fake->user, fake, 1);
}

static void fake_free(cm_pass *p)
{
    for (size_t i = 0; i < p->n_got; i++)
        free(p->got[i].json);
    free(p->bind);
    free(p->source);
    free(p->code);
    free(p->message);
    free(p);
}

static void fake_end(const struct cm_pass_end *end)
{
    cm_pass *p = cm_steal(&fake);

    p->ev.on_end(p->user, p, end);
    fake_free(p);
    if (fake_after)
        fake_after();
}

/** The program completes. */
__attribute__((unused)) static void fake_done(const char *json, const char *marks, const char *meta)
{
    const struct cm_pass_end end = {.kind = CM_PASS_COMPLETED,
                                    .code = "",
                                    .message = "",
                                    .value = {cm_str_of(json), cm_str_of(marks)},
                                    .meta_json = cm_str_of(meta)};

    fake_end(&end);
}

/** `json` and `marks`: what the error has beside its meta. */
__attribute__((unused)) static void fake_throw_with(const char *meta, const char *json, const char *marks)
{
    const struct cm_pass_end end = {.kind = CM_PASS_THREW,
                                    .code = "",
                                    .message = "",
                                    .value = {cm_str_of(json), cm_str_of(marks)},
                                    .meta_json = cm_str_of(meta)};

    fake_end(&end);
}

__attribute__((unused)) static void fake_throw(const char *meta)
{
    fake_throw_with(meta, "", "");
}

/** What was killed has ended; the sandbox says so from the loop, never from inside cm_pass_stop. */
static void fake_sweep(void)
{
    if (fake && fake->killed) {
        const struct cm_pass_end end = {.kind = fake->kind, .code = fake->code, .message = fake->message};

        fake_end(&end);
    }
}

/* ---- the catalogue ---- */

void cm_catalog_search(cm_catalog *c, struct cm_str query, size_t limit, struct cm_buf *out)
{
    (void)c;
    cm_buf_addf(out, "{\"limit\":%zu,\"query\":\"%.*s\"}", limit, CM_STR_ARG(query));
}

cm_status cm_catalog_describe(cm_catalog *c, struct cm_str target, struct cm_buf *out, struct cm_err *err)
{
    (void)c;
    if (cm_str_eq_z(target, "nothing"))
        return cm_err_set(err, CM_E_NOT_FOUND, "nothing is called 'nothing'");
    cm_buf_addf(out, "{\"path\":\"%.*s\"}", CM_STR_ARG(target));
    return CM_OK;
}

void cm_catalog_put_snippet(cm_catalog *c, size_t i, const struct cm_catalog_snippet *s)
{
    (void)c, (void)i, (void)s;
}

void cm_catalog_end_snippets(cm_catalog *c, size_t n)
{
    (void)c, (void)n;
}

void cm_catalog_bind(cm_catalog *c, struct cm_buf *out)
{
    (void)c;
    cm_buf_add_z(out, "{\"connectors\":[]}");
}

#endif
