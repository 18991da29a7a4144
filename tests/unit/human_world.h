/**
 * A runtime with real workers for what people decide: one connector `t` whose effects are written down, and a human who says what a
 * test says. The pass of a paused run is held, or let go, or taken away, or everything is closed and opened anew: `way`.
 */
#ifndef CM_TESTS_HUMAN_WORLD_H
#define CM_TESTS_HUMAN_WORLD_H

#include "base/clock.h"
#include "connector/kinds.h"
#include "runtime/internal.h"

#include <stdio.h>
#include <unistd.h>

#include "unit.h"

enum way {
    HELD,     /* it goes on in place */
    RELEASED, /* from its record: no pass is ever held */
    EVICTED,  /* from its record: the pass is taken away before anybody decides */
    REOPENED, /* from its record: store, connectors and runtime are opened anew before anybody decides */
    N_WAYS,
};
static const char *const way_names[] = {"held", "released", "evicted", "reopened"};

#define TTL_MS 3600000

struct world {
    char dir[32];
    char where[96];
    enum way way;
    cm_loop *loop;
    cm_sandbox *sandbox;
    cm_store *store;
    cm_config *config;
    cm_secrets *secrets;
    cm_catalog *catalog;
    cm_connector *conn;
    cm_runtime *rt;
    struct cm_buf effects;  /* "wipe {…}; note {…}" */
    FILE *shared;           /* where several processes write theirs */
    cm_call *slow;          /* not answered yet */
    uint32_t grace_ms;      /* 0: as the way says */
    cm_connector *conns[2]; /* the first is `conn`; the second the test's own, or NULL */
    char id[64];
};

/** Somebody who waits for an outcome. */
struct waiter {
    struct world *w;
    bool told;
    enum cm_exec_state state;
    char *outcome;
    struct cm_err err;
    cm_exec *exec;
};

/* ---- tools ---- */

struct tool {
    struct world *w;
    const char *name;
};

static void note_effect(struct world *w, const char *name, struct cm_str args)
{
    cm_buf_addf(&w->effects, "%s%s %.*s", w->effects.len ? "; " : "", name, CM_STR_ARG(args));
    if (w->shared) {
        (void)fprintf(w->shared, "%s %.*s\n", name, CM_STR_ARG(args));
        (void)fflush(w->shared);
    }
}

static void echo(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    cm_native_reply_json(k, args);
}

#define EFFECT(tool_name)                                             \
    static void tool_name(void *user, cm_call *k, struct cm_str args) \
    {                                                                 \
        note_effect(user, #tool_name, args);                          \
        cm_native_reply_json(k, args);                                \
    }
EFFECT(note)
EFFECT(wipe)
EFFECT(strict)

static void fail_(void *user, cm_call *k, struct cm_str args)
{
    note_effect(user, "fail", args);
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void slow(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    note_effect(w, "slow", args);
    w->slow = k;
}

static void add_tools(struct world *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    const struct cm_native_tool tools[] = {
        {.name = "echo", .fn = echo, .flags = CM_METHOD_READ_ONLY},
        {.name = "note", .fn = note, .user = w},
        {.name = "fail", .fn = fail_, .user = w},
        {.name = "slow", .fn = slow, .user = w},
        {.name = "wipe", .fn = wipe, .user = w, .flags = CM_METHOD_REQUIRES_APPROVAL},
        {.name = "strict",
         .fn = strict,
         .user = w,
         .flags = CM_METHOD_REQUIRES_APPROVAL,
         .input_schema = schema},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conn, &tools[i], NULL), CM_OK);
}

/* ---- the world ---- */

static void set_policy(struct world *w, const char *deny)
{
    cm_autofree char *text =
        deny ? cm_asprintf("{\"codemode\":{\"policy\":[{\"match\":\"%s\",\"action\":\"deny\"}]}}", deny)
             : cm_strdup("{}");
    const struct cm_config_lookup lookup = {.text = text};
    cm_config *old = w->config;
    struct cm_err err = {0};

    if (cm_config_load(&lookup, &w->config, &err) != CM_OK)
        fail_msg("%s", err.message);
    if (w->rt)
        w->rt->o.config = w->config;
    cm_config_free(old);
}

/** The part that a process has anew when it starts. */
static void open_process(struct world *w)
{
    const struct cm_connector_base base = {.name = "t", .origin = "a test"};
    struct cm_err err = {0};

    if (cm_store_open(w->where, &w->store, &err) != CM_OK)
        fail_msg("%s", err.message);
    w->conn = cm_connector_native(w->loop, &base, NULL);
    add_tools(w);
    w->conns[0] = w->conn;
    w->catalog = cm_catalog_new(w->conns, w->conns[1] ? 2 : 1);

    const struct cm_runtime_opts opts = {
        .loop = w->loop,
        .store = w->store,
        .sandbox = w->sandbox,
        .catalog = w->catalog,
        .connectors = w->conns,
        .n_connectors = w->conns[1] ? 2 : 1,
        .config = w->config,
        .secrets = w->secrets,
        .limits = CM_LIMITS_DEFAULT,
        .name = "default",
        .grace_ms = w->grace_ms                           ? w->grace_ms
                    : w->way == HELD || w->way == EVICTED ? 600000
                                                          : 0,
        .paused_ttl_ms = TTL_MS,
    };
    if (cm_runtime_open(&opts, &w->rt, &err) != CM_OK)
        fail_msg("%s", err.message);
}

static void close_process(struct world *w)
{
    cm_runtime_close(cm_steal(&w->rt));
    if (w->slow)
        cm_native_reply_json(cm_steal(&w->slow), CM_STR("null"));
    cm_catalog_free(w->catalog);
    cm_connector_free(w->conn);
    cm_store_close(w->store);
}

/** One for all worlds of a process: a start costs more than many a world. */
static cm_loop *the_loop;
static cm_sandbox *the_sandbox;

static void open_sandbox(void)
{
    const struct cm_sandbox_opts so = {.pool_size = 1};
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&the_loop, &err), CM_OK);
    if (cm_sandbox_open(the_loop, &so, &the_sandbox, &err) != CM_OK)
        fail_msg("%s", err.message);
}

static void close_sandbox(void)
{
    if (!the_loop)
        return;
    cm_sandbox_close(cm_steal(&the_sandbox));
    cm_loop_free(cm_steal(&the_loop));
}

static void open_world(struct world *w, enum way way, const char *dir)
{
    if (!the_loop)
        open_sandbox();
    *w = (struct world){
        .way = way, .loop = the_loop, .sandbox = the_sandbox, .effects = CM_BUF_INIT(1u << 20)};
    if (dir) {
        (void)snprintf(w->where, sizeof w->where, "sqlite:%s/codemode.db", dir);
    } else {
        (void)snprintf(w->dir, sizeof w->dir, "/tmp/cm-human-XXXXXX");
        assert_non_null(mkdtemp(w->dir));
        (void)snprintf(w->where, sizeof w->where, "sqlite:%s/codemode.db", w->dir);
    }
    w->secrets = cm_secrets_new();
    cm_secrets_add(w->secrets, CM_STR("hunter2hunter2"), "TOKEN");
    set_policy(w, NULL);
    open_process(w);
}

static void close_world(struct world *w)
{
    close_process(w);
    cm_config_free(w->config);
    cm_secrets_free(w->secrets);
    cm_buf_done(&w->effects);
    if (w->dir[0]) {
        cm_autofree char *cmd = cm_asprintf("rm -r '%s'", w->dir);

        assert_int_equal(system(cmd), 0);
    }
}

/* ---- waiting ---- */

static void on_told(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct waiter *k = user;

    assert_false(k->told);
    k->told = true;
    k->state = state;
    free(k->outcome);
    k->outcome = json.ptr ? cm_memdup_z(json.ptr, json.len) : NULL;
    k->err = err ? *err : (struct cm_err){0};
}

static void await_told(struct waiter *k)
{
    while (!k->told)
        assert_true(cm_loop_once(k->w->loop) || k->told);
}

__attribute__((unused)) static void await_slow(struct world *w)
{
    while (!w->slow)
        assert_true(cm_loop_once(w->loop));
}

static void start(struct world *w, struct waiter *k, struct cm_str code)
{
    const struct cm_exec_spec spec = {.code = code, .limits = CM_LIMITS_DEFAULT};
    struct cm_err err = {0};

    *k = (struct waiter){.w = w};
    if (cm_exec_start(w->rt, &spec, on_told, k, &k->exec, &err) != CM_OK)
        fail_msg("%s", err.message);
    (void)snprintf(w->id, sizeof w->id, "%s", cm_exec_id(k->exec));
}

/** Between a pause and a decision. */
__attribute__((unused)) static void go_the_way(struct world *w)
{
    if (w->way == EVICTED && w->rt->held)
        cm_pass_stop(w->rt->held->pass->pass, CM_PASS_EVICTED, "evicted", "");
    if (w->way == REOPENED) {
        close_process(w);
        open_process(w);
    }
}

/* ---- people ---- */

__attribute__((unused)) static const struct cm_str one_wipe = CM_STR("return (await t.wipe({n: 1})).n");
__attribute__((unused)) static const uint32_t first[] = {0}, second[] = {1};

/** A program that waits. */
__attribute__((unused)) static void pause_one(struct world *w, struct waiter *k, enum way way,
                                              struct cm_str code)
{
    open_world(w, way, NULL);
    start(w, k, code);
    await_told(k);
    assert_int_equal(k->state, CM_EXEC_PAUSED);
    free(cm_steal(&k->outcome));
    go_the_way(w);
}

__attribute__((unused)) static cm_status approve(struct world *w, struct waiter *k, const uint32_t *seq,
                                                 struct cm_err *err)
{
    const struct cm_decide d = {.id = w->id, .seqs = seq, .n_seqs = seq ? 1 : 0};

    *err = (struct cm_err){0};
    *k = (struct waiter){.w = w};
    return cm_runtime_approve(w->rt, &d, on_told, k, &k->exec, err);
}

__attribute__((unused)) static cm_status reject(struct world *w, struct waiter *k, const uint32_t *seq,
                                                struct cm_err *err)
{
    const struct cm_decide d = {.id = w->id, .seqs = seq, .n_seqs = seq ? 1 : 0, .reason = "no"};

    *err = (struct cm_err){0};
    *k = (struct waiter){.w = w};
    return cm_runtime_reject(w->rt, &d, on_told, k, &k->exec, err);
}

__attribute__((unused)) static void says(const struct cm_err *err, const char *words)
{
    if (!strstr(err->message, words))
        fail_msg("no '%s' in: %s", words, err->message);
}

__attribute__((unused)) static void ended(struct waiter *k, enum cm_exec_state state, const char *in_outcome)
{
    await_told(k);
    if (k->state != state || !k->outcome || !strstr(k->outcome, in_outcome))
        fail_msg("state %d: %s %s", (int)k->state, k->outcome ? k->outcome : "no outcome", k->err.message);
    free(cm_steal(&k->outcome));
}

__attribute__((unused)) static void effects(const struct world *w, const char *want)
{
    struct cm_str got = cm_buf_str(&w->effects);

    if (!cm_str_eq_z(got, want))
        fail_msg("'%.*s', not '%s'", CM_STR_ARG(got), want);
}

#endif
