/** A runtime with the real worker, one connector `t`, and snippets that a test puts there. To be included by one test file. */
#ifndef CM_TESTS_SNIPPETS_WORLD_H
#define CM_TESTS_SNIPPETS_WORLD_H
#include "base/clock.h"
#include "base/fd.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"

#include <stdio.h>

#include "unit.h"

#define TEXT_MAX (1u << 20)

struct world {
    cm_loop *loop;
    cm_store *store;
    cm_config *config;
    cm_sandbox *sandbox;
    cm_catalog *catalog;
    cm_connector *conn;
    cm_runtime *rt;
    bool ended;
    enum cm_exec_state state;
    char *outcome;
    char id[80];
    int wiped;
};

/* ---- the connector ---- */

static void echo(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    cm_native_reply_json(k, args);
}

static void refuse(void *user, cm_call *k, struct cm_str args)
{
    (void)user, (void)args;
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void wipe(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->wiped++;
    cm_native_reply_json(k, args);
}

static uint32_t grace_ms; /* how long the pass of a paused run is kept */

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    const struct cm_connector_base base = {.name = "t", .origin = "a test"};
    const struct cm_config_lookup lookup = {.none = true};
    const struct cm_sandbox_opts so = {.pool_size = 1};
    const struct cm_native_tool tools[] = {
        {.name = "echo", .description = "Echo back what was given", .fn = echo, .flags = CM_METHOD_READ_ONLY},
        {.name = "fail", .fn = refuse, .flags = CM_METHOD_READ_ONLY},
        {.name = "wipe", .fn = wipe, .user = w, .flags = CM_METHOD_REQUIRES_APPROVAL},
    };
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&w->loop, &err), CM_OK);
    if (cm_sandbox_open(w->loop, &so, &w->sandbox, &err) != CM_OK ||
        cm_store_open("memory:", &w->store, &err) != CM_OK ||
        cm_config_load(&lookup, &w->config, &err) != CM_OK)
        fail_msg("%s", err.message);
    w->conn = cm_connector_native(w->loop, &base, NULL);
    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conn, &tools[i], NULL), CM_OK);
    w->catalog = cm_catalog_new(&w->conn, 1);
    const struct cm_runtime_opts opts = {
        .loop = w->loop,
        .store = w->store,
        .sandbox = w->sandbox,
        .catalog = w->catalog,
        .connectors = &w->conn,
        .n_connectors = 1,
        .config = w->config,
        .limits = CM_LIMITS_DEFAULT,
        .name = "default",
        .grace_ms = grace_ms,
    };
    assert_int_equal(cm_runtime_open(&opts, &w->rt, &err), CM_OK);
    *state = w;
    return 0;
}

/** Runs that pause go on in place. */
__attribute__((unused)) static int set_up_kept(void **state)
{
    int failed;

    grace_ms = 60000;
    failed = set_up(state);
    grace_ms = 0;
    return failed;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_runtime_close(w->rt);
    cm_catalog_free(w->catalog);
    cm_connector_free(w->conn);
    cm_sandbox_close(w->sandbox);
    cm_loop_free(w->loop);
    cm_store_close(w->store);
    cm_config_free(w->config);
    free(w->outcome);
    free(w);
    return 0;
}

static void on_outcome(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct world *w = user;

    if (err)
        fail_msg("%s", err->message);
    w->ended = true;
    w->state = state;
    free(w->outcome);
    w->outcome = cm_memdup_z(json.ptr, json.len);
}

static void run(struct world *w, struct cm_str code)
{
    const struct cm_exec_spec spec = {.code = code, .limits = CM_LIMITS_DEFAULT};
    struct cm_err err = {0};
    cm_exec *e = NULL;

    w->ended = false;
    if (cm_exec_start(w->rt, &spec, on_outcome, w, &e, &err) != CM_OK)
        fail_msg("%s", err.message);
    (void)snprintf(w->id, sizeof w->id, "%s", cm_exec_id(e));
    while (!w->ended)
        assert_true(cm_loop_once(w->loop) || w->ended);
}

static void put(struct world *w, const char *name, struct cm_str code, struct cm_str schema,
                const char *connectors)
{
    const struct cm_snippet_row row = {.runtime = "default",
                                       .name = name,
                                       .description = "",
                                       .code = code,
                                       .input_schema = schema,
                                       .connectors_json = connectors,
                                       .execution = "exec_test",
                                       .saved_at = 1};
    struct cm_err err = {0};

    if (cm_store_snippet_save(w->store, &row, &err) != CM_OK)
        fail_msg("%s", err.message);
}

#endif
