/**
 * A runtime with a sandbox that the test plays itself (fake_pass.h), one connector `local` with tools for
 * every case, and one `slow`. To be included by one test file.
 */
#ifndef CM_TESTS_EXEC_WORLD_H
#define CM_TESTS_EXEC_WORLD_H
#include "base/fd.h"
#include "connector/kinds.h"
#include "runtime/internal.h"

#include "fake_pass.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

struct world {
    char dir[32];
    char where[96];
    cm_loop *loop;
    cm_store *store;
    cm_config *config;
    cm_secrets *secrets;
    cm_runtime *rt;
    cm_connector *conns[2];
    cm_exec *exec;
    bool ended;
    enum cm_exec_state state;
    char *outcome;
    struct cm_err err;
    int ran;           /* callbacks of tools */
    cm_call *kept[64]; /* calls that a tool has not answered */
    char *kept_args[64];
    size_t n_kept;
};

/* ---- tools ---- */

static void echo(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->ran++;
    cm_native_reply_json(k, args);
}

static void refuse(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    (void)args;
    w->ran++;
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void keep(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->ran++;
    w->kept_args[w->n_kept] = cm_memdup_z(args.ptr, args.len);
    w->kept[w->n_kept++] = k;
}

static void die(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    (void)k;
    (void)args;
    (void)raise(SIGKILL);
}

static void add_tools(struct world *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    const struct cm_native_tool tools[] = {
        {.name = "echo", .fn = echo, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "strict", .fn = echo, .user = w, .input_schema = schema},
        {.name = "refuse", .fn = refuse, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "keep", .fn = keep, .user = w},
        {.name = "keep_read", .fn = keep, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "wipe", .fn = echo, .user = w, .flags = CM_METHOD_REQUIRES_APPROVAL},
        {.name = "forbidden", .fn = echo, .user = w},
        {.name = "asked", .fn = echo, .user = w, .flags = CM_METHOD_READ_ONLY, .input_schema = schema},
        {.name = "die", .fn = die, .user = w},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conns[0], &tools[i], &w->err), CM_OK);
}

/* ---- the world ---- */

static struct cm_limits limits;
static struct world *the_world;

/** Events until nothing recorded waits for the disk. */
static void settle(void)
{
    while (the_world->rt && !rt_disk_is_idle(the_world->rt)) {
        bool more = cm_loop_once(the_world->loop);

        assert_true(more || !the_world->rt || rt_disk_is_idle(the_world->rt));
    }
}

static void open_runtime(struct world *w)
{
    const struct cm_runtime_opts opts = {
        .loop = w->loop,
        .store = w->store,
        .connectors = w->conns,
        .n_connectors = 2,
        .config = w->config,
        .secrets = w->secrets,
        .name = "default",
        .limits = CM_LIMITS_DEFAULT,
        .max_executions = 5,
    };

    assert_int_equal(cm_runtime_open(&opts, &w->rt, &w->err), CM_OK);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    const struct cm_connector_base local = {.name = "local", .origin = "a test"},
                                   slow = {.name = "slow", .origin = "a test"};
    const struct cm_config_lookup lookup = {
        .text = "{\"codemode\":{\"policy\":[{\"match\":\"local.forbidden\",\"action\":\"deny\"},"
                "{\"match\":\"*.asked\",\"action\":\"approve\"}]}}"};

    limits = CM_LIMITS_DEFAULT;
    (void)snprintf(w->dir, sizeof w->dir, "/tmp/cm-exec-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    (void)snprintf(w->where, sizeof w->where, "sqlite:%s/codemode.db", w->dir);
    assert_int_equal(cm_loop_new(&w->loop, &w->err), CM_OK);
    assert_int_equal(cm_store_open(w->where, &w->store, &w->err), CM_OK);
    if (cm_config_load(&lookup, &w->config, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    w->secrets = cm_secrets_new();
    cm_secrets_add(w->secrets, CM_STR("hunter2hunter2"), "TOKEN");
    w->conns[0] = cm_connector_native(w->loop, &local, NULL);
    w->conns[1] = cm_connector_native(w->loop, &slow, NULL);
    add_tools(w);
    open_runtime(w);
    the_world = w;
    fake_after = settle;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    cm_autofree char *cmd = cm_asprintf("rm -r '%s'", w->dir);

    cm_runtime_close(cm_steal(&w->rt));
    if (fake)
        fake_sweep();
    for (size_t i = 0; i < w->n_kept; i++) {
        if (w->kept[i])
            cm_native_reply_json(w->kept[i], CM_STR("null"));
        free(w->kept_args[i]);
    }
    cm_connector_free(w->conns[0]);
    cm_connector_free(w->conns[1]);
    cm_loop_free(w->loop);
    cm_store_close(w->store);
    cm_config_free(w->config);
    cm_secrets_free(w->secrets);
    free(w->outcome);
    free(w);
    return system(cmd);
}

/* Events until the condition no longer holds; a loop with nothing left to wait for is a failure, not a hang.
 */
#define WAIT_WHILE(w, condition)                                              \
    do {                                                                      \
        fake_sweep();                                                         \
        while (condition) {                                                   \
            bool more = cm_loop_once((w)->loop);                              \
            fake_sweep();                                                     \
            if (!more && (condition))                                         \
                fail_msg("nothing is left to wait for while %s", #condition); \
        }                                                                     \
    } while (0)

static void on_outcome(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct world *w = user;

    assert_false(w->ended);
    w->ended = true;
    w->state = state;
    free(w->outcome);
    w->outcome = cm_memdup_z(json.ptr, json.len);
    if (err)
        w->err = *err;
}

__attribute__((unused)) static void start(struct world *w)
{
    const struct cm_exec_spec spec = {.code = CM_STR("program"), .limits = limits};

    w->ended = false;
    if (cm_exec_start(w->rt, &spec, on_outcome, w, &w->exec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_non_null(fake);
}

__attribute__((unused)) static void start_call(struct world *w, const char *path, const char *args)
{
    const struct cm_exec_spec spec = {
        .call_path = path, .call_args = {cm_str_of(args), CM_STR("")}, .limits = limits};

    w->ended = false;
    if (cm_exec_start(w->rt, &spec, on_outcome, w, &w->exec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_false(w->ended);
    WAIT_WHILE(w, !w->ended);
}

__attribute__((unused)) static void end_normally(struct world *w)
{
    fake_done("1", "", "{}");
    assert_true(w->ended);
}

#define HAS(w, text)                                     \
    do {                                                 \
        if (!strstr((w)->outcome, text))                 \
            fail_msg("no %s in %s", text, (w)->outcome); \
    } while (0)
#define LACKS(w, text)                                \
    do {                                              \
        if (strstr((w)->outcome, text))               \
            fail_msg("%s in %s", text, (w)->outcome); \
    } while (0)

/** Answers of ids from `n` on have been delivered. */
__attribute__((unused)) static const struct fake_delivery *delivered(struct world *w, size_t n)
{
    WAIT_WHILE(w, fake && !fake->killed && fake->n_got < n);
    assert_non_null(fake);
    assert_int_equal(fake->n_got, n);
    return &fake->got[n - 1];
}

static bool find_row(void *user, const struct cm_call_row *row)
{
    struct cm_call_row *want = user;

    if (row->seq != want->seq)
        return true;
    *want = *row;
    want->connector = want->method = want->args_hash = want->decision = want->rule = NULL; /* borrowed */
    want->args = want->outcome = (struct cm_value){0};
    return false;
}

/** What stands in the record about call `seq`, as another process would read it. */
__attribute__((unused)) static struct cm_call_row record(struct world *w, const char *id, uint32_t seq)
{
    cm_auto(cm_store) s = NULL;
    struct cm_call_row row = {.seq = seq, .kind = 99};

    assert_int_equal(cm_store_open(w->where, &s, &w->err), CM_OK);
    assert_int_equal(cm_store_calls(s, id, find_row, &row, &w->err), CM_OK);
    assert_int_not_equal(row.kind, 99);
    return row;
}

static char last_id[64];

__attribute__((unused)) static const char *id_of(struct world *w)
{
    (void)snprintf(last_id, sizeof last_id, "%s", cm_exec_id(w->exec));
    return last_id;
}

#endif
