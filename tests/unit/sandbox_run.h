/** What tests of the sandbox share: a world with the real worker program in it, and runs whose end is written down. */
#ifndef CM_TESTS_SANDBOX_RUN_H
#define CM_TESTS_SANDBOX_RUN_H

#include "sandbox/sandbox.h"
#include "wire/control.h"

#include <stdio.h>

#include "unit.h"

/** One pass and what became of it. */
struct run {
    cm_loop *loop;
    cm_pass *pass;
    int64_t pid;
    bool ended;
    enum cm_pass_end_kind kind;
    char code[64];
    char message[1024];
    char value[4096];
    char meta[4096];
    uint64_t cpu_us;
    struct cm_buf logs; /* joined by newlines */
    unsigned n_logs;
    unsigned n_calls, n_waits, n_steps;
    uint32_t outstanding;
    bool answer;       /* answer calls from on_call, with the method's name */
    bool kill_at_call; /* kill the worker when a call comes */
    void (*at_call)(struct run *r);
    void (*at_wait)(struct run *r);
};

static void copy(char *out, size_t size, struct cm_str s)
{
    (void)snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.len ? s.ptr : "");
}

static void on_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    struct run *r = user;
    char text[128];

    (void)connector, (void)args, (void)at;
    r->n_calls++;
    r->pid = cm_pass_pid(p);
    if (r->at_call)
        r->at_call(r);
    if (!r->answer)
        return;
    (void)snprintf(text, sizeof(text), "\"%.*s\"", CM_STR_ARG(method));
    cm_pass_deliver(p, id, false, kind == CM_CALL_STEP, (struct cm_value){.json = cm_str_of(text)},
                    1700000000500, 1);
}

static void on_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct run *r = user;

    r->n_steps++;
    cm_pass_deliver(p, id, failed, false, value, 1700000000500, 1);
}

static void on_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    struct run *r = user;

    (void)p, (void)level;
    r->n_logs++;
    cm_buf_add_str(&r->logs, text);
    cm_buf_add_char(&r->logs, '\n');
}

static void on_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    struct run *r = user;

    (void)p;
    r->n_waits++;
    r->outstanding = outstanding;
    if (r->at_wait)
        r->at_wait(r);
}

static void on_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct run *r = user;

    assert_false(r->ended);
    assert_ptr_equal(p, r->pass);
    r->ended = true;
    r->pass = NULL;
    r->kind = end->kind;
    r->cpu_us = end->cpu_us;
    copy(r->code, sizeof(r->code), cm_str_of(end->code));
    copy(r->message, sizeof(r->message), cm_str_of(end->message));
    copy(r->value, sizeof(r->value), end->value.json);
    copy(r->meta, sizeof(r->meta), end->meta_json);
}

static const struct cm_pass_events events = {on_call, on_step_end, on_log, on_wait, on_end, NULL};

static const char run_bind[] = "{\"connectors\":[{\"name\":\"svc\",\"methods\":null}]}";

MAYBE_UNUSED static void start(cm_sandbox *sb, struct run *r, const char *runtime, const char *source,
                               const struct cm_limits *limits)
{
    struct cm_pass_spec spec = {
        .runtime = runtime,
        .source = cm_str_of(source),
        .bind_json = cm_str_of(run_bind),
        .now_ms = 1700000000000,
        .limits = limits ? *limits : CM_LIMITS_DEFAULT,
    };

    r->logs = CM_BUF_INIT(1u << 20);
    struct cm_err err = {0};
    if (cm_sandbox_start(sb, &spec, &events, r, &r->pass, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_false(r->ended);
}

MAYBE_UNUSED static void finish(struct run *r)
{
    while (!r->ended) {
        bool more = cm_loop_once(r->loop);
        assert_true(more || r->ended); /* the end may be the last thing there was to do */
    }
    cm_buf_done(&r->logs);
}

/** The process of a pass, once it has one: a signal to process 0 would be one to ourselves. */
MAYBE_UNUSED static pid_t await_pid(const struct run *r)
{
    while (cm_pass_pid(r->pass) == 0)
        assert_true(cm_loop_once(r->loop));
    return (pid_t)cm_pass_pid(r->pass);
}

MAYBE_UNUSED static struct run run(cm_loop *loop, cm_sandbox *sb, const char *source,
                                   const struct cm_limits *limits)
{
    struct run r = {.loop = loop, .answer = true};

    start(sb, &r, "test", source, limits);
    finish(&r);
    return r;
}

/** A run that must complete with this value. */
MAYBE_UNUSED static void expect(cm_loop *loop, cm_sandbox *sb, const char *source, const char *value)
{
    struct run r = run(loop, sb, source, NULL);

    if (r.kind != CM_PASS_COMPLETED || !cm_z_eq(r.value, value))
        fail_msg("%s: kind %d code '%s' message '%s' value '%s' meta '%s'", source, (int)r.kind, r.code,
                 r.message, r.value, r.meta);
}

MAYBE_UNUSED static void expect_end(const struct run *r, enum cm_pass_end_kind kind, const char *code,
                                    const char *in_message)
{
    if (r->kind != kind || !cm_z_eq(r->code, code) || !strstr(r->message, in_message))
        fail_msg("kind %d code '%s' message '%s' value '%s' meta '%s'", (int)r->kind, r->code, r->message,
                 r->value, r->meta);
}

/** A loop and a sandbox of a test's own. */
struct world {
    cm_loop *loop;
    cm_sandbox *sb;
};

MAYBE_UNUSED static struct world open_world(const struct cm_sandbox_opts *opts)
{
    static const struct cm_sandbox_opts usual = {.pool_size = 1};
    struct world w = {0};
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&w.loop, NULL), CM_OK);
    if (cm_sandbox_open(w.loop, opts ? opts : &usual, &w.sb, &err) != CM_OK)
        fail_msg("%s", err.message);
    return w;
}

MAYBE_UNUSED static void close_world(struct world *w)
{
    cm_sandbox_close(w->sb);
    cm_loop_free(w->loop);
}

/**
 * Skip a test where a layer is missing that it is about: a sanitizer build, a kernel without it. With CM_TESTS_ALL set that is a
 * failure. The world is closed either way.
 */
MAYBE_UNUSED static void need_layer(struct world *w, enum cm_layer layer, const char *name)
{
    uint64_t layers = 0;

    while (cm_sandbox_layers(w->sb, &layers, NULL) != CM_OK)
        assert_true(cm_loop_once(w->loop));
    if ((layers & (UINT64_C(1) << layer)) != 0)
        return;
    close_world(w);
    if (getenv("CM_TESTS_ALL"))
        fail_msg("the layer '%s' is missing", name);
    print_message("# skipped: the layer '%s' is missing\n", name);
    skip();
}

#endif
