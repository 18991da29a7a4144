/** JSON: numbers, canonical form, parsing, writing, decoding by table. */
#include "base/limits.h"
#include "json/json.h"
#include "json/value.h"

#include "json_case.h"

static void numbers_print_as_ecmascript_prints_them(void **state)
{
    (void)state;
    cm_autofree char *text = read_case("numbers.tsv");
    char *rest = text, *bits = NULL, *expected = NULL;
    size_t n = 0;

    for (; next_case(&rest, &bits, &expected); n++) {
        uint64_t u = strtoull(bits, NULL, 16);
        double d = 0;
        cm_autobuf out = CM_BUF_INIT(100);
        memcpy(&d, &u, sizeof d);
        cm_json_write_number(&out, d);
        assert_string_equal(out.ptr, expected);
    }
    assert_true(n > 3000);
}

static void documents_have_the_canonical_form_of_rfc_8785(void **state)
{
    (void)state;
    cm_autofree char *text = read_case("canonical.tsv");
    char *rest = text, *input = NULL, *expected = NULL;
    size_t n = 0;

    for (; next_case(&rest, &input, &expected); n++) {
        struct cm_err err = {0};
        cm_autovalue out = {0};
        if (cm_value_canonical((struct cm_value){.json = str(input)}, MAX, &out, &err) != CM_OK)
            fail_msg("%s: %s", input, err.message);
        assert_string_equal(out.json, expected);
        assert_int_equal(out.marks_len, 0);
    }
    assert_true(n > 200);
}

/* ---- parsing ---- */

static void expect_parse_error(const char *text, unsigned flags, cm_status st, const char *part)
{
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;

    assert_int_equal(cm_json_parse(str(text), flags, &doc, &err), st);
    assert_null(doc);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in '%s'", part, err.message);
}

static void parse_errors_say_where(void **state)
{
    (void)state;
    expect_parse_error("", 0, CM_E_INVALID, "empty");
    expect_parse_error("{\n  \"a\": tru }", 0, CM_E_INVALID, "line 2, column 8");
    expect_parse_error("{\"a\":1,}", 0, CM_E_INVALID, "trailing comma");
    expect_parse_error("[1 2]", 0, CM_E_INVALID, "found '2'");
    expect_parse_error("// x\n1", 0, CM_E_INVALID, "line 1, column 1");
    expect_parse_error("[1] x", 0, CM_E_INVALID, "column 5");
    expect_parse_error("1e400", 0, CM_E_INVALID, "infinity");
}

static void relaxed_text_may_have_comments_and_trailing_commas(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(yyjson_doc) doc = NULL;

    assert_int_equal(
        cm_json_parse(str("\xef\xbb\xbf// x\n{\"a\": [1, 2,], /* y */ }"), CM_JSON_RELAXED, &doc, &err),
        CM_OK);
    assert_int_equal(yyjson_arr_size(cm_json_get(yyjson_doc_get_root(doc), "a")), 2);
}

static void depth_is_bounded_and_the_bound_itself_is_allowed(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autofree char *fits = nested(CM_VALUE_MAX_DEPTH);
    cm_autofree char *over = nested(CM_VALUE_MAX_DEPTH + 1);
    cm_autofree char *far = nested(1000000);
    cm_auto(yyjson_doc) doc = NULL;
    cm_autovalue value = {0};

    assert_int_equal(cm_json_parse(str(fits), 0, &doc, &err), CM_OK);
    assert_int_equal(cm_value_canonical((struct cm_value){.json = str(fits)}, MAX, &value, &err), CM_OK);
    assert_string_equal(value.json, fits);
    expect_parse_error(over, 0, CM_E_LIMIT, "512");
    expect_parse_error(far, 0, CM_E_LIMIT, "512");
    expect_parse_error("[[[[],[[]],{\"a\":[{}]}]], 1, x]", 0, CM_E_INVALID, "column 29");
}

static void strings_with_a_nul_are_not_read_as_shorter_ones(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(yyjson_doc) doc = NULL;

    assert_int_equal(cm_json_parse(str("{\"a\":\"x\\u0000y\",\"b\":\"z\"}"), 0, &doc, &err), CM_OK);
    assert_null(cm_json_get_z(yyjson_doc_get_root(doc), "a"));
    assert_string_equal(cm_json_get_z(yyjson_doc_get_root(doc), "b"), "z");
}

static void writers_give_compact_and_indented_text(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf out = CM_BUF_INIT(1000);

    assert_int_equal(
        cm_json_parse(str("{ \"b\" : [ 1 ] , \"a\" : 12345678901234567890123 }"), CM_JSON_BIGNUM, &doc, &err),
        CM_OK);
    cm_json_write(&out, yyjson_doc_get_root(doc));
    assert_string_equal(out.ptr, "{\"b\":[1],\"a\":12345678901234567890123}");
    cm_buf_clear(&out);
    cm_json_write_pretty(&out, cm_json_get(yyjson_doc_get_root(doc), "b"));
    assert_string_equal(out.ptr, "[\n  1\n]");
    cm_buf_clear(&out);
    cm_json_write_canonical(&out, yyjson_doc_get_root(doc));
    assert_string_equal(out.ptr, "{\"a\":1.2345678901234568e+22,\"b\":[1]}");
    cm_buf_clear(&out);
    cm_json_write_string(&out, cm_str_mk("a\"\xff\n\x01", 5));
    assert_string_equal(out.ptr, "\"a\\\"\xef\xbf\xbd\\n\\u0001\"");
    cm_buf_clear(&out);
    cm_json_write_pointer_token(&out, str("a/b~c"));
    assert_string_equal(out.ptr, "/a~1b~0c");
}

/* ---- dispatch ---- */

struct settings {
    bool on;
    uint32_t small;
    uint64_t large;
    char *name;
    yyjson_val *any;
};

static const struct cm_json_field rows[] = {
    {"on", cm_json_decode_bool, offsetof(struct settings, on), false},
    {"small", cm_json_decode_u32, offsetof(struct settings, small), false},
    {"large", cm_json_decode_u64, offsetof(struct settings, large), false},
    {"name", cm_json_decode_string, offsetof(struct settings, name), true},
    {"any", cm_json_decode_value, offsetof(struct settings, any), false},
};

static void note_unknown(void *user, struct cm_str key)
{
    (void)snprintf(user, 32, "%.*s", CM_STR_ARG(key));
}

static cm_status decode(const char *text, struct settings *into, char unknown[32], yyjson_doc **doc,
                        struct cm_err *err)
{
    assert_int_equal(cm_json_parse(str(text), 0, doc, err), CM_OK);
    return cm_json_dispatch(yyjson_doc_get_root(*doc), rows, CM_ARRAY_LEN(rows), into, note_unknown, unknown,
                            err);
}

static void objects_are_decoded_by_table(void **state)
{
    (void)state;
    struct cm_err err = {0};
    struct settings s = {0};
    char unknown[32] = "";
    cm_auto(yyjson_doc) doc = NULL;

    assert_int_equal(decode("{\"on\":true,\"small\":5.0,\"large\":18446744073709551615,\"name\":\"n\","
                            "\"any\":null,\"odd\":1}",
                            &s, unknown, &doc, &err),
                     CM_OK);
    assert_true(s.on);
    assert_int_equal(s.small, 5);
    assert_true(s.large == UINT64_MAX);
    assert_string_equal(s.name, "n");
    assert_true(yyjson_is_null(s.any));
    assert_string_equal(unknown, "odd");
    free(s.name);
}

static void decoding_errors_name_the_key_and_both_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "name: missing"},
        {"[]", "expected an object, found an array"},
        {"{\"name\":1}", "name: expected a string, found a number"},
        {"{\"on\":\"yes\",\"name\":\"n\"}", "on: expected true or false, found a string"},
        {"{\"small\":-1}", "small: expected a whole number of 0 or more, found -1"},
        {"{\"small\":1.5}", "small: expected a whole number of 0 or more, found 1.5"},
        {"{\"small\":4294967296}", "small: expected at most 4294967295, found 4294967296"},
        {"{\"on\":true,\"on\":false}", "on: given twice"},
        {"{\"name\":\"a\\u0000\"}", "name: expected a string without a NUL character"},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        struct cm_err err = {0};
        struct settings s = {0};
        char unknown[32];
        cm_auto(yyjson_doc) doc = NULL;
        assert_int_equal(decode(cases[i].text, &s, unknown, &doc, &err), CM_E_INVALID);
        assert_string_equal(err.message, cases[i].message);
        free(s.name);
    }
}

/** What one character is written as in JSON. */
static void expect_character(struct cm_buf *expected, unsigned char c)
{
    static const char *const shorts[256] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                            ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};

    if (shorts[c])
        cm_buf_add_z(expected, shorts[c]);
    else if (c < 0x20)
        cm_buf_addf(expected, "\\u%04x", c);
    else
        cm_buf_add_char(expected, (char)c);
}

static void a_character_is_escaped_wherever_it_stands(void **state)
{
    enum { LETTERS = 20 };

    (void)state;
    for (unsigned c = 0; c < 0x80; c++) {
        for (size_t at = 0; at < LETTERS; at++) {
            cm_autobuf text = CM_BUF_INIT(256), out = CM_BUF_INIT(256), expected = CM_BUF_INIT(256);

            cm_buf_add_char(&expected, '"');
            for (size_t i = 0; i < LETTERS; i++) {
                /* Neighbours from both ends: what is found in eight bytes at once must not spill over. */
                unsigned char x = i == at ? (unsigned char)c : i % 3 == 0 ? 0x20 : i % 3 == 1 ? 0x7f : '!';

                cm_buf_add_char(&text, (char)x);
                expect_character(&expected, x);
                if (i % 5 == 4) {
                    cm_buf_add_z(&text, "\xc3\xa9");
                    cm_buf_add_z(&expected, "\xc3\xa9");
                }
            }
            cm_buf_add_char(&expected, '"');
            cm_json_write_string(&out, cm_buf_str(&text));
            assert_string_equal(out.ptr, expected.ptr);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_is_escaped_wherever_it_stands),
        cmocka_unit_test(numbers_print_as_ecmascript_prints_them),
        cmocka_unit_test(documents_have_the_canonical_form_of_rfc_8785),
        cmocka_unit_test(parse_errors_say_where),
        cmocka_unit_test(relaxed_text_may_have_comments_and_trailing_commas),
        cmocka_unit_test(depth_is_bounded_and_the_bound_itself_is_allowed),
        cmocka_unit_test(strings_with_a_nul_are_not_read_as_shorter_ones),
        cmocka_unit_test(writers_give_compact_and_indented_text),
        cmocka_unit_test(objects_are_decoded_by_table),
        cmocka_unit_test(decoding_errors_name_the_key_and_both_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
