/* Cutting a result for its reader. Cases: tests/cases/values/cut.txt. */
#include "runtime/cut.h"
#include "unit.h"

#include "base/fd.h"
#include "base/utf8.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

static char *cases;

static int load(void **state)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/values/cut.txt", root ? root : ".");
    struct cm_err err;

    (void)state;
    return cm_read_file(path, 1U << 20, &cases, NULL, &err) == CM_OK ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    free(cases);
    return 0;
}

/** The next line that is no comment, borrowed and in *line; false at the end. */
static bool next_line(const char **at, struct cm_str *line)
{
    while (**at) {
        size_t len = strcspn(*at, "\n");

        *line = cm_str_mk(*at, len);
        *at += len + ((*at)[len] == '\n');
        if (len > 0 && line->ptr[0] != '#')
            return true;
    }
    return false;
}

static void describe(const struct rt_cut *cut, struct cm_buf *out)
{
    static const char *const units[] = {[RT_CUT_ELEMENTS] = "elements",
                                        [RT_CUT_MEMBERS] = "members",
                                        [RT_CUT_TEXT] = "bytes of text",
                                        [RT_CUT_BYTES] = "characters of base64"};

    cm_buf_addf(out, "%.*s: %llu of %llu %s%s%.*s", CM_STR_ARG(cm_buf_str(&cut->at)),
                (unsigned long long)cut->shown, (unsigned long long)cut->items, units[cut->unit],
                cut->left_out.len ? "; " : "", CM_STR_ARG(cm_buf_str(&cut->left_out)));
}

static void check(struct cm_str json, size_t max, struct cm_str want, struct cm_str at)
{
    cm_autobuf out = CM_BUF_INIT(1U << 20);
    cm_autobuf said = CM_BUF_INIT(4096);
    struct rt_cut cut = {0};

    rt_cut_json(json, max, "result", &out, &cut);
    describe(&cut, &said);
    if (!cm_str_eq(cm_buf_str(&out), want) || !cm_str_eq(cm_buf_str(&said), at))
        fail_msg("%zu %.*s\n= %.*s\n@ %.*s", max, CM_STR_ARG(json), CM_STR_ARG(cm_buf_str(&out)),
                 CM_STR_ARG(cm_buf_str(&said)));
    rt_cut_done(&cut);
}

static void what_is_shown_is_what_the_cases_say(void **state)
{
    const char *at = cases;
    struct cm_str head, want, where;
    size_t n = 0;

    (void)state;
    while (next_line(&at, &head)) {
        char *json = NULL;
        size_t max = strtoul(head.ptr, &json, 10);

        assert_true(next_line(&at, &want) && next_line(&at, &where));
        check(cm_str_mk(json + 1, (size_t)(head.ptr + head.len - json - 1)), max,
              cm_str_mk(want.ptr + 2, want.len - 2), cm_str_mk(where.ptr + 2, where.len - 2));
        n++;
    }
    assert_true(n > 15);
}

static void stays_json(struct cm_str json, size_t max)
{
    cm_autobuf out = CM_BUF_INIT(1U << 20);
    cm_auto(yyjson_doc) doc = NULL;
    struct rt_cut cut = {0};
    struct cm_err err = {0};

    rt_cut_json(json, max, "result", &out, &cut);
    rt_cut_done(&cut);
    if (out.len > max || cm_json_parse(cm_buf_str(&out), CM_JSON_STRICT, &doc, &err) != CM_OK)
        fail_msg("%zu %.*s: %.*s: %s", max, CM_STR_ARG(json), CM_STR_ARG(cm_buf_str(&out)), err.message);
}

static void whatever_the_room_it_stays_json_and_within_it(void **state)
{
    const char *at = cases;
    struct cm_str line;

    (void)state;
    while (next_line(&at, &line)) {
        size_t skip = strspn(line.ptr, "0123456789") + 1;

        if (skip == 1)
            continue;
        struct cm_str json = cm_str_mk(line.ptr + skip, line.len - skip);
        for (size_t max = 2; max < json.len; max++)
            stays_json(json, max);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_is_what_the_cases_say),
        cmocka_unit_test(whatever_the_room_it_stays_json_and_within_it),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
