/**
 * Every limit (tests/cases/limits), through <codemode.h>: each program runs with its `input` one under the
 * limit, exactly at it and one over, once with the limit in the configuration and once with the limit of a
 * single run. Adding a case needs no C.
 *
 *     // what: the limit that it meets
 *     // limits: {"subrequests": 5}
 *     // 5: completed                      input: status, the error's code, or, without outcome, the refusal's code
 *     // 6: subrequests_limit with TEXT    and TEXT stands in the outcome (or in that error's message)
 *     // 4: completed without TEXT
 *
 * A program named source* is as long as its input says.
 */
#include <codemode.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/sanitize.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/** One context and the calls that its tool holds back. */
struct world {
    cm_ctx *ctx;
    cm_tool_call *held[64], *parked[64];
    int n_held, n_parked, most;
    int wanted; /* so many are held before they are let go */
    int left;   /* so many are still to come */
    bool ended;
    cm_outcome *outcome;
    struct cm_err err;
};

static void on_ok(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    (void)user, (void)args_json, (void)args_len;
    cm_tool_return(call, "1", 1);
}

static void on_hold(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    struct world *w = user;

    (void)args_json, (void)args_len;
    assert_in_range(w->n_held, 0, CM_ARRAY_LEN(w->held) - 1);
    w->held[w->n_held++] = call;
    w->most = w->n_held > w->most ? w->n_held : w->most;
}

static void on_never(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    struct world *w = user;

    (void)args_json, (void)args_len;
    assert_in_range(w->n_parked, 0, CM_ARRAY_LEN(w->parked) - 1);
    w->parked[w->n_parked++] = call;
}

/** Answer what is held with the most that were held at once. */
static void let_go(struct world *w)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%d", w->most);
    int n = w->n_held;

    w->n_held = 0;
    w->left -= n;
    for (int i = 0; i < n; i++)
        cm_tool_return(w->held[i], text, (size_t)len);
}

static struct world *open_world(const char *limits)
{
    struct world *w = calloc(1, sizeof *w);
    const struct cm_tool tools[] = {
        {.connector = "svc", .name = "ok", .fn = on_ok, .flags = CM_TOOL_READ_ONLY},
        {.connector = "svc", .name = "never", .fn = on_never, .user = w, .flags = CM_TOOL_READ_ONLY},
        {.connector = "svc", .name = "hold", .fn = on_hold, .user = w, .flags = CM_TOOL_READ_ONLY},
    };
    cm_autofree char *config = cm_asprintf("{\"codemode\":{\"limits\":%s}}", limits ? limits : "{}");
    struct cm_options o = {.config_json = config, .store = "memory:", .one_shot = true};
    struct cm_err err = {0};

    assert_non_null(w);
    if (cm_open(&o, &w->ctx, &err) != CM_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_add_tool(w->ctx, &tools[i], &err), CM_OK);
    return w;
}

static void close_world(struct world *w)
{
    for (int i = 0; i < w->n_parked; i++)
        cm_tool_fail(w->parked[i], "too late");
    cm_close(w->ctx);
    free(w);
}

static void on_done(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct world *w = user;

    w->ended = true;
    w->outcome = take_outcome;
    if (err)
        w->err = *err;
}

static void run(struct world *w, const char *code, unsigned long input, const char *limits)
{
    char input_json[32];
    const struct cm_run_options o = {.code = code, .input_json = input_json, .limits_json = limits};

    (void)snprintf(input_json, sizeof input_json, "%lu", input);
    w->ended = false;
    w->most = 0;
    w->left = (int)input;
    w->outcome = NULL;
    w->err = (struct cm_err){0};
    if (cm_run_start(w->ctx, &o, on_done, w, NULL, &w->err) != CM_OK)
        return;
    while (!w->ended) {
        (void)cm_wait(w->ctx);
        if (w->n_held > 0 && (w->n_held >= w->wanted || w->n_held >= w->left))
            let_go(w);
    }
}

/** How it ended, as a row says it. */
static const char *end_name(const struct world *w)
{
    const char *code = w->outcome ? cm_outcome_error(w->outcome, "code") : NULL;

    if (!w->outcome)
        return (w->err.code ? w->err.code : cm_status_name(w->err.status));
    return code ? code : cm_outcome_status(w->outcome);
}

/** One row: "N: END[ with TEXT| without TEXT]". False: not as it says. */
static bool check_row(struct world *w, const char *name, const char *code, const char *row,
                      const char *limits)
{
    char *at = NULL;
    unsigned long input = strtoul(row, &at, 10);
    cm_autofree char *padded = strncmp(name, "source", 6) == 0 ? cm_asprintf("%-*s", (int)input, code) : NULL;
    const char *text = strstr(row, "\"result\":");

    w->wanted = text ? (int)strtol(text + strlen("\"result\":"), NULL, 10) : 0;
    run(w, padded ? padded : code, input, limits);
    const char *shown = w->outcome ? cm_outcome_json(w->outcome, NULL) : w->err.message;
    at += strlen(": ");
    bool ok = strncmp(at, end_name(w), strlen(end_name(w))) == 0;
    if ((text = strstr(at, " without ")) != NULL)
        ok = ok && !strstr(shown, text + strlen(" without "));
    else if ((text = strstr(at, " with ")) != NULL)
        ok = ok && strstr(shown, text + strlen(" with "));
    if (!ok)
        print_error("%s (%s): '%s', but it ended as %s: %.1500s\n", name,
                    limits ? "this run's" : "configured", row, end_name(w), shown);
    cm_outcome_free(w->outcome);
    return ok;
}

/** A limit that is raised for one run is refused by its name. */
static bool check_raise(struct world *w, const char *name, const char *limits)
{
    char key[32];
    unsigned long long value;

    if (sscanf(limits, "{\"%31[A-Za-z]\": %llu", key, &value) != 2)
        return false;
    cm_autofree char *raised = cm_asprintf("{\"%s\": %llu}", key, value + 1);
    run(w, "return 1", 0, raised);
    bool ok = !w->outcome && w->err.status == CM_E_INVALID && strstr(w->err.message, key);
    if (!ok)
        print_error("%s: %s was not refused: %s\n", name, raised, w->err.message);
    cm_outcome_free(w->outcome);
    return ok;
}

static char *take_head(const char *program, const char *key)
{
    char mark[32];
    int n = snprintf(mark, sizeof mark, "// %s: ", key);
    const char *at = strstr(program, mark);

    assert_non_null(at);
    return cm_memdup_z(at + n, strcspn(at + n, "\n"));
}

static unsigned run_case(const char *name, const char *program, unsigned *n_rows)
{
    cm_autofree char *limits = take_head(program, "limits");
    cm_autofree char *what = take_head(program, "what");
    struct world *configured = open_world(limits);
    struct world *usual = open_world(NULL);
    unsigned n_bad = !check_raise(configured, name, limits);

    (void)what;
    for (const char *line = program; strncmp(line, "//", 2) == 0; line = strchr(line, '\n') + 1) {
        if (line[3] < '0' || line[3] > '9')
            continue;
        cm_autofree char *row = cm_memdup_z(line + 3, strcspn(line + 3, "\n"));
        n_bad += !check_row(configured, name, program, row, NULL);
        n_bad += !check_row(usual, name, program, row, limits);
        ++*n_rows;
    }
    close_world(configured);
    close_world(usual);
    return n_bad;
}

static int is_case(const struct dirent *d)
{
    size_t len = strlen(d->d_name);

    return len > 3 && strcmp(d->d_name + len - 3, ".js") == 0;
}

/** Sanitizers and the kernel's limit on data exclude each other. */
static bool needs_what_sanitizers_lack(const char *name)
{
    return CM_SANITIZED && strncmp(name, "memory", 6) == 0;
}

static void each_limit_holds_exactly_where_it_says(void **state)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/limits", root ? root : ".");
    struct dirent **names = NULL;
    unsigned n_bad = 0, n_rows = 0;
    int n = scandir(dir, &names, is_case, alphasort);

    (void)state;
    assert_true(n > 20);
    for (int i = 0; i < n; i++) {
        cm_autofree char *path = cm_asprintf("%s/%s", dir, names[i]->d_name);
        cm_autofree char *text = NULL;

        assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
        if (needs_what_sanitizers_lack(names[i]->d_name))
            print_message("# %s: not under sanitizers\n", names[i]->d_name);
        else
            n_bad += run_case(names[i]->d_name, text, &n_rows);
        free(names[i]);
    }
    free(names);
    print_message("# %d limits, %u rows, each as configured and for a single run\n", n, n_rows);
    assert_int_equal(n_bad, 0);
}

/** ---- the stack, whose exact end only a program can find ---- */

static bool is_deep_enough(struct world *w, unsigned long depth, const char *limits)
{
    run(w, "const f = n => (n ? 1 + f(n - 1) : 0); return f(input)", depth, limits);
    const char *end = end_name(w);
    bool ok = strcmp(end, "completed") == 0;

    if (!ok)
        assert_string_equal(end, "stack_limit");
    cm_outcome_free(w->outcome);
    return ok;
}

/** The deepest recursion that completes: one more ends as the limit. */
static unsigned long deepest(struct world *w, const char *limits)
{
    unsigned long low = 0, high = 200000;

    while (high - low > 1) {
        unsigned long middle = low + (high - low) / 2;
        if (is_deep_enough(w, middle, limits))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void twice_the_stack_is_twice_the_depth(void **state)
{
    struct world *w = open_world(NULL);
    unsigned long at_256, at_512, at_1024;

    (void)state;
    at_256 = deepest(w, "{\"stackKb\": 256}");
    at_512 = deepest(w, "{\"stackKb\": 512}");
    at_1024 = deepest(w, NULL);
    print_message("# depth at 256, 512 and 1024 KB: %lu, %lu, %lu\n", at_256, at_512, at_1024);
    /* A few frames are the prelude's, and the engine may give a hot function smaller ones. */
    assert_in_range(at_512, at_256 * 17 / 10, at_256 * 23 / 10);
    assert_in_range(at_1024, at_512 * 17 / 10, at_512 * 23 / 10);
    close_world(w);
}

/** ---- an input is an argument too ---- */

static void an_input_is_as_long_as_arguments_may_be(void **state)
{
    struct world *w = open_world("{\"argBytes\": 5}");
    struct cm_run_options o = {.code = "return input", .input_json = "12345"};

    (void)state;
    assert_int_equal(cm_run(w->ctx, &o, &w->outcome, &w->err), CM_OK);
    assert_string_equal(cm_outcome_result_json(w->outcome, NULL), "12345");
    cm_outcome_free(w->outcome);
    o.input_json = "123456";
    assert_int_equal(cm_run(w->ctx, &o, &w->outcome, &w->err), CM_E_LIMIT);
    assert_non_null(strstr(w->err.message, "input: 6 bytes, 5 are allowed (limits.argBytes)"));
    assert_int_equal(cm_call_method(w->ctx, "svc.ok", "{\"a\":1}", &w->outcome, &w->err), CM_E_LIMIT);
    assert_non_null(strstr(w->err.message, "arguments: 7 bytes, 5 are allowed (limits.argBytes)"));
    close_world(w);
}

/** ---- what an outcome keeps of a program that is stopped ---- */

static void a_stopped_program_keeps_its_log_and_names_its_last_call(void **state)
{
    struct world *w = open_world("{\"cpuMs\": 100}");

    (void)state;
    run(w,
        "console.log('first');\nawait svc.ok({});\nconsole.log('last');\ntry { for (;;); } finally { for "
        "(;;); }",
        0, NULL);
    assert_string_equal(end_name(w), "cpu_limit");
    assert_string_equal(cm_outcome_log(w->outcome, 0), "first");
    assert_string_equal(cm_outcome_log(w->outcome, 1), "last");
    assert_non_null(strstr(cm_outcome_error(w->outcome, "message"), "The last call was svc.ok (line 2)."));
    assert_non_null(strstr(cm_outcome_json(w->outcome, NULL), "\"state\":\"applied\",\"result\":1"));
    cm_outcome_free(w->outcome);
    close_world(w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_holds_exactly_where_it_says),
        cmocka_unit_test(twice_the_stack_is_twice_the_depth),
        cmocka_unit_test(an_input_is_as_long_as_arguments_may_be),
        cmocka_unit_test(a_stopped_program_keeps_its_log_and_names_its_last_call),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
