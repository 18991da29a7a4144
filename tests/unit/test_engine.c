/* The engine with an in-process host: programs and normalisation as data (tests/cases), and what needs C to
 * be seen. */
#include "engine/engine.h"

#include "base/sanitize.h"
#include "engine_cases.h"
#include "json/json.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static cm_engine *engine;

static void check_text(const struct test_case *t, const char *key, const char *got)
{
    const char *want = case_get(t, key);

    if (want && strcmp(want, got ? got : "") != 0)
        fail_msg("%s: %s is\n  %s\nexpected\n  %s", t->name, key, got ? got : "(none)", want);
}

static void check_part(const struct test_case *t, const char *key, const char *want, const char *got)
{
    if (!got || !strstr(got, want))
        fail_msg("%s: %s is\n  %s\nexpected to hold\n  %s", t->name, key, got ? got : "(none)", want);
}

/* The n-th line of `got` for the n-th appearance of key; all of them when the case names any. */
static void check_lines(const struct test_case *t, const char *key, const struct cm_buf *got)
{
    cm_autobuf want = CM_BUF_INIT(1U << 20);

    if (!case_get(t, key))
        return;
    for (size_t i = 0; i < t->n_keys; i++) {
        if (cm_z_eq(t->keys[i].key, key) && t->keys[i].value[0]) {
            cm_buf_add_z(&want, t->keys[i].value);
            cm_buf_add_char(&want, '\n');
        }
    }
    if (!cm_str_eq(cm_buf_str(&want), cm_buf_str(got)))
        fail_msg("%s: %ss are\n%s\nexpected\n%s", t->name, key, cm_buf_str(got).ptr, cm_buf_str(&want).ptr);
}

static void check_error(const struct test_case *t, yyjson_val *error)
{
    static const char *const texts[] = {"name", "code", "module", "source"};
    static const char *const numbers[] = {"line", "column", "caret"};

    if (!error)
        fail_msg("%s: failed without error", t->name);
    check_part(t, "failed", case_get(t, "failed"), cm_json_get_z(error, "message"));
    for (size_t i = 0; i < CM_ARRAY_LEN(texts); i++)
        check_text(t, texts[i], cm_json_get_z(error, texts[i]));
    for (size_t i = 0; i < CM_ARRAY_LEN(numbers); i++) {
        char number[24];

        (void)snprintf(number, sizeof(number), "%d", (int)yyjson_get_num(cm_json_get(error, numbers[i])));
        check_text(t, numbers[i], number);
    }
    if (case_get(t, "stack"))
        check_part(t, "stack", case_get(t, "stack"), cm_json_get_z(error, "stack"));
}

static void check_meta(const struct test_case *t, const struct outcome *o)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *root, *warnings;
    struct cm_err err;
    size_t n = 0;

    if (cm_json_parse(cm_str_of(o->meta), CM_JSON_STRICT, &doc, &err) != CM_OK)
        fail_msg("%s: meta is no JSON: %s", t->name, err.message);
    if (strstr(o->meta, "codemode:"))
        fail_msg("%s: meta tells of our own frames: %s", t->name, o->meta);
    root = yyjson_doc_get_root(doc);
    warnings = cm_json_get(root, "warnings");
    if (o->failed)
        check_error(t, cm_json_get(root, "error"));
    for (size_t i = 0; i < t->n_keys; i++) {
        if (cm_z_eq(t->keys[i].key, "warning"))
            check_part(t, "warning", t->keys[i].value, yyjson_get_str(yyjson_arr_get(warnings, n++)));
    }
    if (n != yyjson_arr_size(warnings))
        fail_msg("%s: %zu warnings, expected %zu: %s", t->name, yyjson_arr_size(warnings), n, o->meta);
}

static void check_shown(const struct test_case *t)
{
    cm_autofree char *text = NULL, *meta = NULL, *again = NULL;
    struct cm_err err;
    size_t len = 0;

    if (!case_get(t, "shown"))
        return;
    if (cm_engine_normalize(engine, cm_str_of(t->program), cm_str_of(case_bind(t)), &text, &len, &meta,
                            &err) != CM_OK)
        fail_msg("%s: %s", t->name, err.message);
    check_text(t, "shown", text);
    /* What is shown is itself a program, and stays as it is. */
    if (cm_engine_normalize(engine, cm_str_mk(text, len), cm_str_of(case_bind(t)), &again, NULL, NULL,
                            &err) != CM_OK)
        fail_msg("%s: what is shown does not parse: %s", t->name, err.message);
    check_text(t, "shown", again);
}

static void run_case(void **state)
{
    const struct test_case *t = *state;
    struct outcome o;

    case_run(engine, t, &o);
    if (o.waiting != (case_get(t, "waiting") != NULL))
        fail_msg("%s: it %s", t->name, o.waiting ? "waits" : "does not wait");
    if (!o.waiting) {
        if (o.failed != (case_get(t, "failed") != NULL))
            fail_msg("%s: it %s: %s", t->name, o.failed ? "failed" : "did not fail",
                     o.failed ? o.meta : o.json);
        check_text(t, "result", o.json);
        if (!o.failed)
            check_text(t, "marks", o.marks);
        check_meta(t, &o);
    }
    check_lines(t, "log", &o.logs);
    check_lines(t, "call", &o.calls);
    check_shown(t);
    outcome_done(&o);
}

/* ---- what needs C ---- */

static int count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n - 2;
}

static void no_helper_thread_exists_after_warming(void **state)
{
    struct cm_err err;

    (void)state;
    assert_int_equal(count_threads(), 1);
    assert_int_equal(cm_engine_warm(engine, &err), CM_OK);
    cm_engine_collect(engine);
    assert_int_equal(count_threads(), 1);
}

static struct test_case program(const char *text)
{
    union {
        const char *in;
        char *out;
    } u = {text};

    return (struct test_case){.name = u.out, .program = u.out};
}

/* Run in a child forked from this VM; its exit status says whether the program completed with `want`. */
static void expect_in_child(const char *text, const char *want)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct test_case t = program(text);
        struct outcome o;

        case_run(engine, &t, &o);
        cm_engine_collect(engine);
        if (o.failed || o.waiting || strcmp(o.json, want) != 0) {
            (void)fprintf(stderr, "in the child: %s %s\n", o.json, o.meta);
            _exit(1);
        }
        _exit(count_threads() == 1 ? 0 : 2);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void compiled_code_and_collection_work_in_a_forked_child(void **state)
{
    (void)state;
    expect_in_child("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(22)", "17711");
    expect_in_child("let n = 0; for (let i = 0; i < 2e6; i++) n += i % 7; n", "5999995");
    expect_in_child(
        "let keep; for (let i = 0; i < 200; i++) keep = new Array(20000).fill(i); keep.length + keep[5]",
        "20199");
}

static void realms_share_nothing(void **state)
{
    struct test_case first =
        program("globalThis.mine = 1; Array.prototype.leak = 2; Object.prototype.x = 3; mine");
    struct test_case second = program("[typeof mine, typeof [].leak, typeof {}.x]");
    struct outcome o;

    (void)state;
    case_run(engine, &first, &o);
    assert_string_equal(o.json, "1");
    outcome_done(&o);
    case_run(engine, &second, &o);
    assert_string_equal(o.json, "[\"undefined\",\"undefined\",\"undefined\"]");
    outcome_done(&o);
}

static long resident_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long size = 0, resident = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    (void)fclose(f);
    return resident;
}

static void a_finished_realm_is_garbage(void **state)
{
    struct test_case t =
        program("const keep = new Uint8Array(4e6).fill(1); Promise.reject(new Error('x')); keep.length");
    long before = resident_pages();
    struct outcome o;

    (void)state;
    /* 200 realms of 4 MB each would be 800 MB. */
    for (int i = 0; i < 200; i++) {
        case_run(engine, &t, &o);
        assert_string_equal(o.json, "4000000");
        outcome_done(&o);
        if (i % 10 == 9)
            cm_engine_collect(engine);
    }
    assert_true(resident_pages() - before < 300L * 256);
}

static void nul_call(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                     struct cm_value args, struct cm_call_place at)
{
    (void)user, (void)id, (void)kind, (void)connector, (void)method, (void)args, (void)at;
}

static void nul_step(void *user, uint32_t id, bool failed, struct cm_value value)
{
    (void)user, (void)id, (void)failed, (void)value;
}

static void nul_cancel(void *user, uint32_t id)
{
    (void)user, (void)id;
}

static void nul_log(void *user, unsigned level, struct cm_str text)
{
    (void)user, (void)level, (void)text;
}

static const struct cm_realm_host nul_host = {nul_call, nul_step, nul_log, nul_cancel};

static cm_realm *start(struct cm_str source, const char *seed)
{
    struct cm_realm_opts opts = {.source = source,
                                 .bind_json =
                                     CM_STR("{\"connectors\":[{\"name\":\"demo\",\"methods\":null}]}"),
                                 .now_ms = 5,
                                 .host = &nul_host};
    struct cm_err err;
    cm_realm *r = NULL;

    memcpy(opts.seed, seed, 16);
    assert_int_equal(cm_realm_start(engine, &opts, &r, &err), CM_OK);
    return r;
}

static void an_outcome_for_what_is_not_outstanding_is_a_protocol_error(void **state)
{
    cm_auto(cm_realm) r = start(CM_STR("await demo.a(); await demo.b()"), "0123456789abcdef");
    struct cm_value none = {CM_STR("null"), CM_STR("")};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_realm_deliver(r, 2, false, false, none, 6, 6, &err), CM_E_PROTOCOL);
    assert_int_equal(cm_realm_deliver(r, 0, false, false, none, 6, 6, &err), CM_E_PROTOCOL);
    assert_int_equal(cm_realm_deliver(r, 1, false, true, none, 6, 6, &err), CM_E_PROTOCOL);
    assert_int_equal(cm_realm_deliver(r, 1, false, false, none, 6, 6, &err), CM_OK);
    assert_int_equal(cm_realm_deliver(r, 1, false, false, none, 7, 7, &err), CM_E_PROTOCOL);
    assert_int_equal(cm_realm_deliver(r, 2, false, false, none, 8, 8, &err), CM_OK);
    assert_int_equal(cm_realm_state(r), CM_REALM_DONE);
    assert_int_equal(cm_realm_deliver(r, 2, false, false, none, 8, 8, &err), CM_E_PROTOCOL);
}

static void randomness_is_a_function_of_seed_and_delivery(void **state)
{
    struct cm_str source =
        CM_STR("const a = Math.random(); await demo.x(); [a, Math.random(), crypto.randomUUID()]");
    struct cm_value none = {CM_STR("null"), CM_STR("")};
    enum { SAME, AGAIN, OTHER_SEED, OTHER_DRAW, N };
    char *seen[N] = {NULL};
    static const char *const seeds[N] = {"0123456789abcdef", "0123456789abcdef", "0123456789abcdeg",
                                         "0123456789abcdef"};
    static const uint32_t draws[N] = {9, 9, 9, 10};
    struct cm_err err;

    (void)state;
    for (int i = 0; i < N; i++) {
        cm_auto(cm_realm) r = start(source, seeds[i]);

        assert_int_equal(cm_realm_deliver(r, 1, false, false, none, 9, draws[i], &err), CM_OK);
        seen[i] = cm_memdup_z(cm_realm_result(r)->value.json.ptr, cm_realm_result(r)->value.json.len);
    }
    assert_string_equal(seen[SAME], seen[AGAIN]);
    assert_string_not_equal(seen[SAME], seen[OTHER_SEED]);
    assert_string_not_equal(seen[SAME], seen[OTHER_DRAW]);
    /* What was drawn before the delivery is the same, and is not drawn again after it. */
    char first[32] = "";
    size_t len = strcspn(seen[SAME] + 1, ",");

    assert_true(len > 5 && len < sizeof first);
    memcpy(first, seen[SAME] + 1, len);
    assert_int_equal(strncmp(seen[OTHER_DRAW] + 1, first, len), 0);
    assert_null(strstr(seen[SAME] + 1 + len, first));
    for (int i = 0; i < N; i++)
        free(seen[i]);
}

static void a_nul_in_the_program_is_a_character(void **state)
{
    cm_auto(cm_realm) r = start(CM_STR("const a = 'x\0y'; [a.length, a.charCodeAt(1)]"), "0123456789abcdef");

    (void)state;
    assert_true(cm_str_eq_z(cm_realm_result(r)->value.json, "[3,0]"));
}

static void bytes_that_are_no_text_are_repaired(void **state)
{
    cm_auto(cm_realm) r = start(CM_STR("'\xff\xc3\xa4'.length"), "0123456789abcdef");

    (void)state;
    assert_true(cm_str_eq_z(cm_realm_result(r)->value.json, "2"));
}

static void a_large_result_crosses(void **state)
{
    cm_auto(cm_realm) r = start(CM_STR("Array.from({length: 100000}, (_, i) => ({ id: i, name: 'n' + i }))"),
                                "0123456789abcdef");

    (void)state;
    assert_false(cm_realm_result(r)->failed);
    assert_true(cm_realm_result(r)->value.json.len > 2000000);
}

static void a_syntax_error_has_its_meta(void **state)
{
    cm_autofree char *text = NULL, *meta = NULL;
    struct cm_err err;

    (void)state;
    assert_int_equal(
        cm_engine_normalize(engine, CM_STR("let x = 1;\nlet y = ;"), CM_STR(""), &text, NULL, &meta, &err),
        CM_E_INVALID);
    assert_non_null(strstr(meta, "\"line\":2,\"column\":9"));
}

static void the_self_test_passes(void **state)
{
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_engine_self_test(engine, &err), CM_OK);
}

/* In a child: the reservation stays cut for the life of the process. */
static void ordinary_programs_run_with_capped_reservations(void **state)
{
    pid_t pid = fork();
    int status = 0;

    (void)state;
    if (pid == 0) {
        struct cm_err err;

        if (cm_engine_cap_reservations(&err) != CM_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            _exit(1);
        }
        expect_in_child("const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = { ['p' + i % 50]: i }; "
                        "Object.keys(o).length",
                        "20000");
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Looked at before the tests, whose runner catches faults itself. */
static bool faults_are_default;

static bool look_at_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT};

    for (size_t i = 0; i < CM_ARRAY_LEN(faults); i++) {
        struct sigaction action;

        if (sigaction(faults[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            return false;
    }
    return true;
}

static void fault_signals_are_not_caught(void **state)
{
    (void)state;
    if (CM_SANITIZED)
        skip(); /* its reports need the handler */
    assert_true(faults_are_default);
}

static const struct CMUnitTest own_tests[] = {
    cmocka_unit_test(no_helper_thread_exists_after_warming),
    cmocka_unit_test(compiled_code_and_collection_work_in_a_forked_child),
    cmocka_unit_test(realms_share_nothing),
    cmocka_unit_test(a_finished_realm_is_garbage),
    cmocka_unit_test(an_outcome_for_what_is_not_outstanding_is_a_protocol_error),
    cmocka_unit_test(randomness_is_a_function_of_seed_and_delivery),
    cmocka_unit_test(a_nul_in_the_program_is_a_character),
    cmocka_unit_test(bytes_that_are_no_text_are_repaired),
    cmocka_unit_test(a_large_result_crosses),
    cmocka_unit_test(a_syntax_error_has_its_meta),
    cmocka_unit_test(the_self_test_passes),
    cmocka_unit_test(fault_signals_are_not_caught),
    cmocka_unit_test(ordinary_programs_run_with_capped_reservations),
};

int main(void)
{
    static const char *const folders[] = {"programs", "normalize", "positions", "modules"};
    struct cases sets[CM_ARRAY_LEN(folders)] = {{0}};
    struct CMUnitTest *tests;
    struct cm_err err;
    size_t n = CM_ARRAY_LEN(own_tests);
    int failed;

    cm_engine_prepare_process(false);
    if (cm_engine_new(&(struct cm_engine_opts){0}, &engine, &err) != CM_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    faults_are_default = look_at_faults();
    for (size_t s = 0; s < CM_ARRAY_LEN(sets); s++) {
        cases_load(folders[s], &sets[s]);
        n += sets[s].n;
    }
    tests = cm_calloc(n, sizeof(*tests));
    memcpy(tests, own_tests, sizeof(own_tests));
    n = CM_ARRAY_LEN(own_tests);
    for (size_t s = 0; s < CM_ARRAY_LEN(sets); s++) {
        for (size_t i = 0; i < sets[s].n; i++)
            tests[n++] = (struct CMUnitTest){sets[s].list[i].name, run_case, NULL, NULL, &sets[s].list[i]};
    }
    failed = _cmocka_run_group_tests("engine", tests, n, NULL, NULL);
    free(tests);
    for (size_t s = 0; s < CM_ARRAY_LEN(sets); s++)
        cases_done(&sets[s]);
    cm_engine_free(engine);
    return failed;
}
