/**
 * Replay with the real worker: each program of tests/cases/again waits for people several times, and each time it goes on from its record
 * with nothing of the process that began it but the store. What a program saw (clock, random numbers, order, values) it gives to the calls
 * that people approve, so that a replay in which anything differs ends as a divergence; it returns "ok" when everything was as it should
 * be. Calls are counted here: none is made twice. Adding a case needs no C.
 */
#include "base/fd.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "later.h"
#include "unit.h"

#define PASSES_MAX    12
#define PROGRAMS_MAX  100
#define PROGRAM_BYTES (1u << 16)

struct world {
    cm_loop *loop;
    cm_store *store;
    cm_config *config;
    cm_sandbox *sandbox;
    cm_catalog *catalog;
    cm_connector *conn;
    cm_runtime *rt;
    char id[96];
    bool ended;
    enum cm_exec_state state;
    char *outcome;
    size_t n_made; /* calls that reached the connector */
};

/* ---- the connector ---- */

static void echo(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->n_made++;
    cm_native_reply_json(k, args);
}

static void refuse(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    (void)args;
    w->n_made++;
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void later(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->n_made++;
    reply_later(w->loop, k, args);
}

static void add_tools(struct world *w)
{
    const struct cm_native_tool tools[] = {
        {.name = "echo", .description = "Echo back what was given", .fn = echo, .flags = CM_METHOD_READ_ONLY},
        {.name = "count", .fn = echo},
        {.name = "strict",
         .fn = echo,
         .input_schema =
             "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"},
        {.name = "fail", .fn = refuse, .flags = CM_METHOD_READ_ONLY},
        {.name = "wipe", .fn = echo, .flags = CM_METHOD_REQUIRES_APPROVAL},
        {.name = "forbidden", .fn = echo},
        {.name = "later", .fn = later, .flags = CM_METHOD_READ_ONLY},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++) {
        struct cm_native_tool tool = tools[i];

        tool.user = w;
        assert_int_equal(cm_connector_native_add(w->conn, &tool, NULL), CM_OK);
    }
}

/* ---- the world ---- */

static void open_runtime(struct world *w)
{
    const struct cm_connector_base base = {.name = "t", .origin = "a test"};
    struct cm_err err = {0};

    w->conn = cm_connector_native(w->loop, &base, NULL);
    add_tools(w);
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
    };
    if (cm_runtime_open(&opts, &w->rt, &err) != CM_OK)
        fail_msg("%s", err.message);
}

static void close_runtime(struct world *w)
{
    cm_runtime_close(w->rt);
    cm_catalog_free(w->catalog);
    cm_connector_free(w->conn);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    const struct cm_config_lookup lookup = {
        .text = "{\"codemode\":{\"policy\":[{\"match\":\"t.forbidden\",\"action\":\"deny\"}]}}"};
    const struct cm_sandbox_opts so = {.pool_size = 1};
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&w->loop, &err), CM_OK);
    if (cm_sandbox_open(w->loop, &so, &w->sandbox, &err) != CM_OK ||
        cm_store_open("memory:", &w->store, &err) != CM_OK ||
        cm_config_load(&lookup, &w->config, &err) != CM_OK)
        fail_msg("%s", err.message);
    open_runtime(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    close_runtime(w);
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

static void wait_for_end(struct world *w)
{
    while (!w->ended)
        (void)cm_loop_once(w->loop);
}

struct seqs {
    uint32_t list[64];
    size_t n;
};

static bool note_pending(void *user, const char *id, const struct cm_call_row *row)
{
    struct seqs *s = user;

    (void)id;
    assert_true(s->n < CM_ARRAY_LEN(s->list));
    s->list[s->n++] = row->seq;
    return true;
}

/** Of what is pending one call is approved, or all of it. */
static void approve(struct world *w, bool all)
{
    struct seqs s = {.n = 0};
    struct cm_err err = {0};

    assert_int_equal(cm_store_pending(w->store, NULL, w->id, note_pending, &s, &err), CM_OK);
    assert_true(s.n > 0);
    for (size_t i = 0; i < (all ? s.n : 1); i++)
        if (cm_store_call_decide(w->store, w->id, s.list[s.n - 1 - i],
                                 &(struct cm_decision_row){.approve = true, .at = 1}, &err) != CM_OK)
            fail_msg("%s", err.message);
    assert_int_equal(cm_store_commit(w->store, false, &err), CM_OK);
}

static bool count_sent(void *user, const struct cm_call_row *row)
{
    size_t *n = user;

    *n += row->kind == CM_CALL_TOOL && !cm_z_eq(row->decision, "refuse") &&
          (row->state == CM_CALL_APPLIED || row->state == CM_CALL_FAILED);
    return true;
}

/** What is printed is cut, and what went wrong stands at the end. */
static const char *tail_of(const char *text)
{
    size_t len = strlen(text);

    return len > 700 ? text + len - 700 : text;
}

static void replay_program(struct world *w, const char *name, struct cm_str code, bool all)
{
    struct cm_exec_spec spec = {
        .code = code, .limits = CM_LIMITS_DEFAULT, .input = {CM_STR("{\"list\":[1,\"two\"]}"), CM_STR("")}};
    struct cm_err err = {0};
    cm_exec *e = NULL;
    size_t sent = 0, passes = 1;

    w->ended = false;
    w->n_made = 0;
    assert_int_equal(cm_exec_start(w->rt, &spec, on_outcome, w, &e, &err), CM_OK);
    (void)snprintf(w->id, sizeof w->id, "%s", cm_exec_id(e));
    wait_for_end(w);
    for (; w->state == CM_EXEC_PAUSED && passes < PASSES_MAX; passes++) {
        approve(w, all);
        close_runtime(w);
        open_runtime(w);
        w->ended = false;
        if (cm_exec_resume(w->rt, w->id, on_outcome, w, &e, &err) != CM_OK)
            fail_msg("%s: %s", name, err.message);
        wait_for_end(w);
    }
    if (w->state != CM_EXEC_COMPLETED || !strstr(w->outcome, "\"result\":\"ok\"") || passes < 2)
        fail_msg("%s after %zu passes: … %s", name, passes, tail_of(w->outcome));
    assert_int_equal(cm_store_calls(w->store, w->id, count_sent, &sent, &err), CM_OK);
    if (sent != w->n_made)
        fail_msg("%s: %zu calls were made, %zu stand in the record: %s", name, w->n_made, sent, w->outcome);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void every_program(struct world *w, bool all)
{
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/again", getenv("CM_SOURCE_ROOT"));
    DIR *d = opendir(dir);
    struct dirent *entry;
    char *names[PROGRAMS_MAX];
    size_t n = 0;

    assert_non_null(d);
    while ((entry = readdir(d)))
        if (strstr(entry->d_name, ".js")) {
            assert_true(n < PROGRAMS_MAX);
            names[n++] = cm_strdup(entry->d_name);
        }
    (void)closedir(d);
    assert_true(n >= 11);
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 0; i < n; i++) {
        cm_autofree char *path = cm_asprintf("%s/%s", dir, names[i]), *text = NULL;
        struct cm_err err = {0};
        size_t len = 0;

        if (cm_read_file(path, PROGRAM_BYTES, &text, &len, &err) != CM_OK)
            fail_msg("%s", err.message);
        replay_program(w, names[i], cm_str_mk(text, len), all);
        free(names[i]);
    }
}

static void programs_go_on_as_if_nothing_had_been(void **state)
{
    every_program(*state, true);
}

static void and_when_of_several_calls_one_is_approved_at_a_time(void **state)
{
    every_program(*state, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_go_on_as_if_nothing_had_been, set_up, tear_down),
        cmocka_unit_test_setup_teardown(and_when_of_several_calls_one_is_approved_at_a_time, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}
