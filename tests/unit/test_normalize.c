/*
 * Texts that are meant to be slow to read, or deep: each pattern of tests/cases/slow/normalize.txt many times over, alone, behind
 * types, and before an error. Every one ends soon, as a program or as an error with a place. What is measured is the processor's
 * time of this thread, so a busy machine changes nothing; quadratic work on texts of this size takes many times the limit. And a text
 * that comes again, which is not read again.
 */
#include "base/fd.h"
#include "base/sanitize.h"
#include "engine/engine.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "unit.h"

#define FILE_MAX  (64U << 10)
#define TEXT_MAX  (2U << 20)
#define SHORT     (16U << 10)
#define LONG      1000000U
#define SHORT_MS  (CM_SANITIZED ? 4000 : 400)
#define LONG_MS   (CM_SANITIZED ? 80000 : 8000)
#define STACK_MAX (2U << 20)

static cm_engine *engine;
static char *patterns;

static double cpu_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void error_has_a_place(const char *pattern, const char *meta)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (!meta || cm_json_parse(cm_str_of(meta), CM_JSON_STRICT, &doc, NULL) != CM_OK)
        fail_msg("%s: no error is told", pattern);
    yyjson_val *error = cm_json_get(yyjson_doc_get_root(doc), "error");
    if (!cm_json_get_z(error, "message") || yyjson_get_uint(cm_json_get(error, "line")) == 0)
        fail_msg("%s: an error without message or place: %s", pattern, meta);
}

/* `pattern` between `before` and `after`, until the text is `len` long. */
static void read_text(const char *pattern, const char *before, const char *after, size_t len, double most_ms)
{
    cm_autobuf b = CM_BUF_INIT(TEXT_MAX);
    cm_autofree char *text = NULL, *meta = NULL;
    struct cm_err err;

    cm_buf_add_z(&b, before);
    while (b.len < len) {
        for (const char *p = pattern; *p;) {
            bool is_break = strncmp(p, "⏎", strlen("⏎")) == 0;

            cm_buf_add_char(&b, is_break ? '\n' : *p);
            p += is_break ? strlen("⏎") : 1;
        }
    }
    cm_buf_add_z(&b, after);
    double start = cpu_ms();
    cm_status st = cm_engine_normalize(engine, cm_buf_str(&b), CM_STR(""), &text, NULL, &meta, &err);
    double took = cpu_ms() - start;

    if (took > most_ms)
        fail_msg("%s%s…%s: %zu bytes took %.0f ms", before, pattern, after, b.len, took);
    if (st != CM_OK)
        error_has_a_place(pattern, meta);
}

static void for_each(void (*fn)(const char *pattern))
{
    cm_autofree char *all = cm_strdup(patterns);

    for (char *line = all, *next; *line; line = next) {
        next = strchr(line, '\n');
        assert_non_null(next);
        *next++ = '\0';
        fn(line);
    }
}

static void read_short(const char *pattern)
{
    read_text(pattern, "", "", SHORT, SHORT_MS);
    read_text(pattern, "const x: number = 1;\n", "", SHORT, SHORT_MS);
    read_text(pattern, "", " let let", SHORT, SHORT_MS);
}

static void no_pattern_takes_more_than_its_length(void **state)
{
    (void)state;
    for_each(read_short);
}

static void the_longest_texts_end_too(void **state)
{
    static const char *const some[] = {"(", "`", "```js⏎", "a.b", "${"};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(some); i++)
        read_text(some[i], "", "", LONG, LONG_MS);
}

/* Read with the names that come with it, and with an input or without, however often the same text came before. */
static void a_text_that_comes_again_is_read_by_what_it_comes_with(void **state)
{
    static const struct cm_str text = CM_STR("import one from 'one';\nreturn one");
    static const struct cm_str with =
        CM_STR("{\"connectors\":[],\"modules\":{\"one\":\"export default 1\"}}");
    static const struct cm_str without = CM_STR("{\"connectors\":[]}");
    static const struct {
        const struct cm_str *bind;
        cm_status st;
    } rows[] = {
        {&with, CM_OK}, {&with, CM_OK}, {&without, CM_E_INVALID}, {&without, CM_E_INVALID}, {&with, CM_OK}};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autofree char *shown = NULL;
        struct cm_err err;

        if (cm_engine_normalize(engine, text, *rows[i].bind, &shown, NULL, NULL, &err) != rows[i].st)
            fail_msg("%zu: %s", i, rows[i].st == CM_OK ? err.message : shown);
        if (rows[i].st == CM_OK)
            assert_non_null(strstr(shown, "import(\"one\")"));
    }
}

static int setup(void **state)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/slow/normalize.txt", root ? root : ".");
    struct cm_err err;
    size_t len = 0;

    (void)state;
    if (cm_read_file(path, FILE_MAX, &patterns, &len, &err) != CM_OK ||
        cm_engine_new(&(struct cm_engine_opts){0}, &engine, &err) != CM_OK)
        return -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cm_engine_free(engine);
    free(patterns);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pattern_takes_more_than_its_length),
        cmocka_unit_test(the_longest_texts_end_too),
        cmocka_unit_test(a_text_that_comes_again_is_read_by_what_it_comes_with),
    };
    const struct rlimit stack = {STACK_MAX, RLIM_INFINITY};

    /* As in a worker, whose stack is bounded: what is too deep must be met as an error. */
    (void)setrlimit(RLIMIT_STACK, &stack);
    cm_engine_prepare_process(false);
    return cmocka_run_group_tests_name("normalize", tests, setup, teardown);
}
