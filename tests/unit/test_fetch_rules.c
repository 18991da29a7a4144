/**
 * Which URL is read as what, which pattern allows it, and what an address leads to: the rows of tests/cases/fetch.
 * An expectation that begins with '!' is a part of the error.
 */
#include "base/fd.h"
#include "net/allow.h"
#include "json/json.h"

#include "unit.h"

#include <stdio.h>

static yyjson_doc *cases(const char *name)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/fetch/%s", root ? root : ".", name);
    cm_autofree char *text = NULL;
    size_t len = 0;
    yyjson_doc *doc = NULL;

    assert_int_equal(cm_read_file(path, 1 << 20, &text, &len, NULL), CM_OK);
    assert_int_equal(cm_json_parse(cm_str_mk(text, len), CM_JSON_STRICT, &doc, NULL), CM_OK);
    return doc;
}

/* All rows are looked at before the test fails, so that one run shows everything. */
static void expect(int *failed, const char *what, const char *expected, const char *got)
{
    bool same = expected[0] == '!' ? got[0] == '!' && strstr(got, expected + 1) : strcmp(expected, got) == 0;

    if (same)
        return;
    (*failed)++;
    print_message("%s\n  expected %s\n  got      %s\n", what, expected, got);
}

static char *decide(const struct cm_allow *list, size_t n, struct cm_str text)
{
    cm_autourl url = {0};
    struct cm_err err;

    if (cm_url_parse(text, NULL, &url, &err) != CM_OK)
        return cm_asprintf("!%s", err.message);
    for (size_t i = 0; i < n; i++)
        if (cm_allow_matches(&list[i], &url))
            return cm_strdup(url.text);
    return cm_strdup("not allowed");
}

static void urls_are_read_once_and_compared_with_the_list(void **state)
{
    cm_auto(yyjson_doc) doc = cases("urls.json");
    size_t i, max, k, n;
    yyjson_val *group, *key, *v;
    int failed = 0;

    (void)state;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, group)
    {
        struct cm_allow list[16] = {0};
        size_t n_list = yyjson_arr_size(cm_json_get(group, "allow"));
        yyjson_arr_foreach(cm_json_get(group, "allow"), k, n, v)
        {
            assert_int_equal(cm_allow_parse(yyjson_get_str(v), &list[k], NULL), CM_OK);
        }
        yyjson_obj_foreach(cm_json_get(group, "urls"), k, n, key, v)
        {
            cm_autofree char *got = decide(list, n_list, cm_json_str(key));
            expect(&failed, yyjson_get_str(key), yyjson_is_null(v) ? "not allowed" : yyjson_get_str(v), got);
        }
        for (k = 0; k < n_list; k++)
            cm_allow_done(&list[k]);
    }
    assert_int_equal(failed, 0);
}

static void patterns_have_one_form_or_a_reason(void **state)
{
    cm_auto(yyjson_doc) doc = cases("patterns.json");
    size_t i, max;
    yyjson_val *key, *v;
    int failed = 0;

    (void)state;
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, v)
    {
        struct cm_allow a = {0};
        struct cm_err err;
        cm_status st = cm_allow_parse(yyjson_get_str(key), &a, &err);
        cm_autofree char *got = st == CM_OK ? cm_allow_text(&a) : cm_asprintf("!%s", err.message);
        expect(&failed, yyjson_get_str(key), yyjson_get_str(v), got);
        cm_allow_done(&a);
    }
    assert_int_equal(failed, 0);
}

static void every_form_of_an_address_is_seen_through(void **state)
{
    static const char *const names[] = {"public", "private", "loopback", "link-local", "metadata", "special"};
    cm_auto(yyjson_doc) doc = cases("addresses.json");
    size_t i, max;
    yyjson_val *key, *v;
    int failed = 0;

    (void)state;
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, v)
    {
        struct cm_address a;
        assert_true(cm_address_parse(yyjson_get_str(key), &a));
        expect(&failed, yyjson_get_str(key), yyjson_get_str(v), names[cm_address_kind(&a)]);
    }
    assert_int_equal(failed, 0);
}

static void check_reach(const struct cm_allow *a, const char *host, yyjson_val *list, const char *word,
                        int *failed)
{
    size_t i, max;
    yyjson_val *v;

    yyjson_arr_foreach(list, i, max, v)
    {
        struct cm_address address;
        cm_autofree char *what = cm_asprintf("%s -> %.*s", host, CM_STR_ARG(cm_json_str(v)));
        assert_true(cm_address_parse(yyjson_get_str(v), &address));
        expect(failed, what, word, cm_allow_address(a, &address) ? "yes" : "no");
    }
}

static void a_name_reaches_the_public_and_what_was_listed(void **state)
{
    cm_auto(yyjson_doc) doc = cases("reach.json");
    size_t i, max, k, n;
    yyjson_val *row, *v;
    int failed = 0;

    (void)state;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, row)
    {
        const char *host = cm_json_get_z(row, "host");
        if (!host)
            fail_msg("row %zu has no host", i);
        struct cm_allow a = {0};
        assert_int_equal(cm_allow_parse(host, &a, NULL), CM_OK);
        a.allow_private = yyjson_get_bool(cm_json_get(row, "allowPrivate"));
        yyjson_arr_foreach(cm_json_get(row, "ranges"), k, n, v)
        {
            assert_int_equal(cm_allow_add_range(&a, yyjson_get_str(v), NULL), CM_OK);
        }
        check_reach(&a, host, cm_json_get(row, "yes"), "yes", &failed);
        check_reach(&a, host, cm_json_get(row, "no"), "no", &failed);
        cm_allow_done(&a);
    }
    assert_int_equal(failed, 0);
}

static void ranges_say_what_is_wrong_with_them(void **state)
{
    cm_auto(yyjson_doc) doc = cases("ranges.json");
    size_t i, max;
    yyjson_val *key, *v;
    int failed = 0;

    (void)state;
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, v)
    {
        struct cm_range r;
        struct cm_err err;
        cm_status st = cm_range_parse(yyjson_get_str(key), &r, &err);
        cm_autofree char *got = st == CM_OK ? cm_strdup("") : cm_asprintf("!%s", err.message);
        cm_autofree char *expected = cm_asprintf("%s%s", yyjson_get_len(v) ? "!" : "", yyjson_get_str(v));
        expect(&failed, yyjson_get_str(key), expected, got);
    }
    assert_int_equal(failed, 0);
}

static void a_place_to_go_on_to_is_read_from_where_one_is(void **state)
{
    static const struct {
        const char *location, *expected;
    } rows[] = {
        {"/x", "https://api.example.com:8443/x"},
        {"x?y", "https://api.example.com:8443/a/x?y"},
        {"?z", "https://api.example.com:8443/a/b?z"},
        {"../../../up", "https://api.example.com:8443/up"},
        {"//evil.example/x", "https://evil.example/x"},
        {"http://[0:0::1]/", "http://[::1]/"},
        {"HTTPS://Other.Example.com:443", "https://other.example.com/"},
        {"#here", "https://api.example.com:8443/a/b?q"},
        {"/\\evil.example", "!backslash"},
        {"https://u:p@evil.example/", "!user or a password"},
        {"ftp://evil.example/", "!http or https is expected"},
        {"/caf\xC3\xA9 au lait", "https://api.example.com:8443/caf%c3%a9%20au%20lait"},
    };
    cm_autourl base = {0};
    int failed = 0;

    (void)state;
    assert_int_equal(cm_url_parse(CM_STR("https://api.example.com:8443/a/b?q#f"), NULL, &base, NULL), CM_OK);
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autourl url = {0};
        struct cm_err err;
        cm_status st = cm_url_parse(cm_str_of(rows[i].location), &base, &url, &err);
        cm_autofree char *got = st == CM_OK ? cm_strdup(url.text) : cm_asprintf("!%s", err.message);
        expect(&failed, rows[i].location, rows[i].expected, got);
    }
    assert_int_equal(failed, 0);
}

static void no_message_repeats_a_password_or_a_query(void **state)
{
    static const char *const urls[] = {"https://user:hunter2@a.com/", "https://a.example:0/?key=hunter2",
                                       "https://a.example:0/#hunter2", "https://a.example\\hunter2",
                                       "https://bü.example/?hunter2"};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(urls); i++) {
        cm_autourl url = {0};
        struct cm_err err;
        assert_int_equal(cm_url_parse(cm_str_of(urls[i]), NULL, &url, &err), CM_E_INVALID);
        assert_null(strstr(err.message, "hunter2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_read_once_and_compared_with_the_list),
        cmocka_unit_test(patterns_have_one_form_or_a_reason),
        cmocka_unit_test(every_form_of_an_address_is_seen_through),
        cmocka_unit_test(a_name_reaches_the_public_and_what_was_listed),
        cmocka_unit_test(ranges_say_what_is_wrong_with_them),
        cmocka_unit_test(a_place_to_go_on_to_is_read_from_where_one_is),
        cmocka_unit_test(no_message_repeats_a_password_or_a_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
