/**
 * The runtime with the real worker: each program in tests/cases/runtime runs against one connector `t`, and
 * its outcome must be the one in the file beside it (without what differs from run to run). Adding a case
 * needs no C. `// limits: {…}` in a first line lowers limits. CM_UPDATE_CASES=1 writes the files anew; read
 * the difference before you keep it.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/sanitize.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "later.h"
#include "unit.h"

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
    cm_call *never;
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
    (void)user;
    (void)args;
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void wipe(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->wiped++;
    cm_native_reply_json(k, args);
}

static void never(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    (void)args;
    w->never = k;
}

static void later(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    reply_later(w->loop, k, args);
}

static void add_tools(struct world *w)
{
    const struct cm_native_tool tools[] = {
        {.name = "echo", .description = "Echo back what was given", .fn = echo, .flags = CM_METHOD_READ_ONLY},
        {.name = "strict",
         .fn = echo,
         .input_schema =
             "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"},
        {.name = "fail", .fn = refuse, .flags = CM_METHOD_READ_ONLY},
        {.name = "wipe", .fn = wipe, .user = w, .flags = CM_METHOD_REQUIRES_APPROVAL},
        {.name = "forbidden", .fn = wipe, .user = w},
        {.name = "never", .fn = never, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "effect", .fn = never, .user = w},
        {.name = "later", .fn = later, .user = w, .flags = CM_METHOD_READ_ONLY},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conn, &tools[i], NULL), CM_OK);
}

/* ---- the world ---- */

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    const struct cm_connector_base base = {.name = "t", .origin = "a test"};
    const struct cm_config_lookup lookup = {
        .text = "{\"codemode\":{\"policy\":[{\"match\":\"t.forbidden\",\"action\":\"deny\"}]}}"};
    const struct cm_sandbox_opts so = {.pool_size = 1};
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&w->loop, &err), CM_OK);
    if (cm_sandbox_open(w->loop, &so, &w->sandbox, &err) != CM_OK ||
        cm_store_open("memory:", &w->store, &err) != CM_OK ||
        cm_config_load(&lookup, &w->config, &err) != CM_OK)
        fail_msg("%s", err.message);
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
    assert_int_equal(cm_runtime_open(&opts, &w->rt, &err), CM_OK);
    *state = w;
    return 0;
}

static void let_go(struct world *w)
{
    if (w->never)
        cm_native_reply_json(cm_steal(&w->never), CM_STR("null"));
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_runtime_close(w->rt);
    let_go(w);
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

static cm_exec *start(struct world *w, const struct cm_exec_spec *spec)
{
    struct cm_err err = {0};
    cm_exec *e = NULL;

    w->ended = false;
    if (cm_exec_start(w->rt, spec, on_outcome, w, &e, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_false(w->ended);
    return e;
}

static void run(struct world *w, const struct cm_exec_spec *spec)
{
    (void)start(w, spec);
    while (!w->ended)
        assert_true(cm_loop_once(w->loop) || w->ended);
}

/* ---- cases ---- */

/** What differs from run to run. */
static void strip(yyjson_mut_val *v)
{
    static const char *const volatile_keys[] = {"executionId", "startedAt", "endedAt", "createdAt", "stack"};
    yyjson_mut_obj_iter it;
    yyjson_mut_arr_iter ai;
    yyjson_mut_val *k, *e;

    if (yyjson_mut_is_arr(v)) {
        yyjson_mut_arr_iter_init(v, &ai);
        while ((e = yyjson_mut_arr_iter_next(&ai)))
            strip(e);
    }
    if (!yyjson_mut_is_obj(v))
        return;
    for (size_t i = 0; i < CM_ARRAY_LEN(volatile_keys); i++)
        (void)yyjson_mut_obj_remove_key(v, volatile_keys[i]);
    yyjson_mut_obj_iter_init(v, &it);
    while ((k = yyjson_mut_obj_iter_next(&it)))
        strip(yyjson_mut_obj_iter_get_val(k));
}

/** Ids inside of messages, too. */
static void hide_ids(char *text)
{
    for (char *p = text; (p = strstr(p, "exec_")); p++)
        for (char *q = p + 5; isxdigit((unsigned char)*q) || *q == '-' || *q == '_'; q++)
            *q = *q == '-' || *q == '_' ? *q : '0';
}

static char *stripped(const char *outcome)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_auto(yyjson_mut_doc) mut = NULL;
    cm_autofree char *text = NULL;
    size_t len = 0;

    assert_int_equal(cm_json_parse(cm_str_of(outcome), CM_JSON_STRICT, &doc, NULL), CM_OK);
    mut = yyjson_doc_mut_copy(doc, NULL);
    strip(yyjson_mut_doc_get_root(mut));
    text = yyjson_mut_write(mut, YYJSON_WRITE_PRETTY_TWO_SPACES, &len);
    hide_ids(text);
    return cm_asprintf("%s\n", text);
}

static void set_limits(struct cm_str source, struct cm_limits *limits)
{
    static const struct cm_str mark = CM_STR("// limits: ");
    struct cm_err err = {0};
    const char *nl = memchr(source.ptr, '\n', source.len);

    *limits = CM_LIMITS_DEFAULT;
    if (!cm_str_has_prefix(source, mark) || !nl)
        return;
    if (cm_limits_lower(limits, cm_str_mk(source.ptr + mark.len, (size_t)(nl - source.ptr) - mark.len),
                        &err) != CM_OK)
        fail_msg("%s", err.message);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static bool run_case(struct world *w, const char *dir, const char *name)
{
    cm_autofree char *js = cm_asprintf("%s/%s", dir, name);
    cm_autofree char *json = cm_asprintf("%s/%.*s.json", dir, (int)strlen(name) - 3, name);
    cm_autofree char *source = NULL, *want = NULL, *got = NULL;
    struct cm_exec_spec spec = {.input = {CM_STR("{\"a\":41}"), CM_STR("")}};
    struct cm_err err = {0};

    assert_int_equal(cm_read_file(js, 1 << 20, &source, &spec.code.len, &err), CM_OK);
    spec.code.ptr = source;
    set_limits(spec.code, &spec.limits);
    run(w, &spec);
    let_go(w);
    got = stripped(w->outcome);
    if (getenv("CM_UPDATE_CASES"))
        write_file(json, got);
    if (cm_read_file(json, 1 << 20, &want, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    if (cm_z_eq(got, want))
        return true;
    print_message("# %s: expected\n%s# got\n%s", name, want, got);
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void every_program_ends_as_written(void **state)
{
    struct world *w = *state;
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/runtime", root ? root : ".");
    DIR *d = opendir(dir);
    char *names[256];
    size_t n = 0, failed = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) && n < CM_ARRAY_LEN(names);)
        if (strlen(e->d_name) > 3 && cm_z_eq(e->d_name + strlen(e->d_name) - 3, ".js"))
            names[n++] = cm_strdup(e->d_name);
    (void)closedir(d);
    assert_true(n >= 20);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        failed += !run_case(w, dir, names[i]);
        free(names[i]);
    }
    assert_int_equal(w->wiped, 0); /* nothing that was denied or needs approval has run */
    assert_int_equal(failed, 0);
}

/* ---- what no file can say ---- */

static void cancelling_ends_a_program_that_waits_for_a_call(void **state)
{
    struct world *w = *state;
    const struct cm_exec_spec spec = {.code = CM_STR("await t.effect({}); return 1"),
                                      .limits = CM_LIMITS_DEFAULT};
    cm_exec *e = start(w, &spec);
    cm_autofree char *progress = NULL;

    while (!w->never)
        assert_true(cm_loop_once(w->loop));
    progress = cm_exec_progress(e);
    assert_string_equal(progress, "1 call, waiting for t.effect (line 1)");
    cm_exec_cancel(e);
    while (!w->ended)
        assert_true(cm_loop_once(w->loop) || w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    assert_non_null(strstr(w->outcome, "\"state\":\"unknown\""));
}

static void programs_run_side_by_side_without_mixing(void **state)
{
    struct world *w = *state;
    enum { N = 8 };
    struct world each[N];
    struct cm_exec_spec spec = {
        .code = CM_STR(
            "async (input) => { await t.later({ms: 5}); return [input, (await t.echo({n: input})).n] }"),
        .limits = CM_LIMITS_DEFAULT};
    bool all = false;

    for (int i = 0; i < N; i++) {
        char input[8];
        struct cm_err err = {0};

        each[i] = (struct world){0};
        (void)snprintf(input, sizeof input, "%d", i);
        spec.input = (struct cm_value){cm_str_of(input), CM_STR("")};
        assert_int_equal(cm_exec_start(w->rt, &spec, on_outcome, &each[i], NULL, &err), CM_OK);
    }
    while (!all) {
        assert_true(cm_loop_once(w->loop));
        all = true;
        for (int i = 0; i < N; i++)
            all = all && each[i].ended;
    }
    for (int i = 0; i < N; i++) {
        char want[32];

        (void)snprintf(want, sizeof want, "\"result\":[%d,%d]", i, i);
        assert_non_null(strstr(each[i].outcome, want));
        free(each[i].outcome);
    }
}

static void a_worker_that_dies_ends_its_run_alone(void **state)
{
    struct world *w = *state;
    struct cm_exec_spec spec = {.code =
                                    CM_STR("const a = []; for (;;) a.push(new Array(1e6).fill(a.length))"),
                                .limits = CM_LIMITS_DEFAULT};

    spec.limits.memory_mb = 32;
    run(w, &spec);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    if (!CM_SANITIZED) /* which exclude the memory limit: another one ends it then */
        assert_non_null(strstr(w->outcome, "\"code\":\"memory_limit\""));
    spec.code = CM_STR("return 2");
    run(w, &spec);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void a_run_with_a_call_takes_milliseconds(void **state)
{
    struct world *w = *state;
    enum { N = 200 };
    const struct cm_exec_spec spec = {.code = CM_STR("return (await t.echo({n: 1})).n"),
                                      .limits = CM_LIMITS_DEFAULT};
    int64_t t0;

    for (int i = 0; i < 20; i++)
        run(w, &spec);
    t0 = cm_mono_us();
    for (int i = 0; i < N; i++)
        run(w, &spec);
    print_message("# %.2f ms a run with one call, start to outcome\n",
                  (double)(cm_mono_us() - t0) / N / 1000);
    assert_non_null(strstr(w->outcome, "\"result\":1"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(every_program_ends_as_written),
        T(cancelling_ends_a_program_that_waits_for_a_call),
        T(programs_run_side_by_side_without_mixing),
        T(a_worker_that_dies_ends_its_run_alone),
        T(a_run_with_a_call_takes_milliseconds),
    };

    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
