#include "schema/schema.h"

#include "base/fd.h"

#include <dirent.h>
#include <stdio.h>

#include "unit.h"

#define MAX ((size_t)8 << 20)

static yyjson_doc *parse(const char *text)
{
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;

    if (cm_json_parse(cm_str_of(text), CM_JSON_STRICT, &doc, &err) != CM_OK)
        fail_msg("%s: %s", text, err.message);
    return doc;
}

static char *read_file(const char *path)
{
    struct cm_err err = {0};
    char *text = NULL;

    if (cm_read_file(path, MAX, &text, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    return text;
}

static char *cases_path(const char *rest)
{
    const char *root = getenv("CM_SOURCE_ROOT");

    return cm_asprintf("%s/tests/cases/schema/%s", root ? root : ".", rest);
}

/* ---- every case file: NAME.json and what it must give, NAME.ts ---- */

static bool check_case(const char *name)
{
    cm_autofree char *json_path = cases_path(name);
    cm_autofree char *ts_path = cm_asprintf("%.*s.ts", (int)strlen(json_path) - 5, json_path);
    cm_autofree char *json = read_file(json_path);
    cm_autofree char *expected = read_file(ts_path);
    cm_auto(yyjson_doc) doc = parse(json);
    cm_autobuf out = CM_BUF_INIT(MAX);
    struct cm_err err = {0};

    assert_int_equal(cm_schema_render_named(&out, "t", yyjson_doc_get_root(doc), &err), CM_OK);
    if (strcmp(out.ptr, expected) == 0)
        return true;
    print_error("%s: expected\n%s\nbut it gave\n%s\n", name, expected, out.ptr);
    return false;
}

static void every_case_gives_its_declarations(void **state)
{
    (void)state;
    cm_autofree char *path = cases_path("");
    DIR *dir = opendir(path);
    size_t n = 0, wrong = 0;

    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        size_t len = strlen(e->d_name);
        if (len < 6 || strcmp(e->d_name + len - 5, ".json") != 0)
            continue;
        n++;
        wrong += !check_case(e->d_name);
    }
    closedir(dir);
    assert_int_equal(wrong, 0);
    assert_true(n >= 50);
}

/* ---- references ---- */

static void references_resolve_by_pointer_with_both_escapes(void **state)
{
    (void)state;
    cm_auto(yyjson_doc) doc = parse("{\"$id\":\"http://x.invalid/s\",\"a\":{\"b/c\":[1,{\"~%\":2}]},\"\":3}");
    yyjson_val *root = yyjson_doc_get_root(doc);
    static const struct {
        const char *ref;
        int value; /* -1: nowhere */
    } cases[] = {
        {"#/a/b~1c/0", 1},
        {"#/a/b%2Fc/1/~0%25", 2},
        {"#/", 3},
        {"http://x.invalid/s#/a/b~1c/0", 1},
        {"#/a/b~1c/2", -1},
        {"#/a/b~1c/-", -1},
        {"#/a/b~1c/x", -1},
        {"#/nowhere/at/all", -1},
        {"#anchor", -1},
        {"", -1},
        {"other.json", -1},
        {"#/a/b~1c/0/deeper", -1},
        {"#/a/b~1c/00000000000000000000000", -1},
    };

    assert_ptr_equal(cm_schema_resolve(root, CM_STR("#")), root);
    assert_ptr_equal(cm_schema_resolve(root, CM_STR("http://x.invalid/s")), root);
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        yyjson_val *v = cm_schema_resolve(root, cm_str_of(cases[i].ref));
        assert_int_equal(v ? yyjson_get_int(v) : -1, cases[i].value);
    }
}

static void without_defs_recursion_ends_in_unknown(void **state)
{
    (void)state;
    cm_auto(yyjson_doc) doc =
        parse("{\"$defs\":{\"N\":{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#/$defs/N\"},"
              "\"v\":{\"type\":\"number\"}}}},\"$ref\":\"#/$defs/N\"}");
    cm_autobuf out = CM_BUF_INIT(MAX);

    cm_schema_render_type(&out, yyjson_doc_get_root(doc), yyjson_doc_get_root(doc), 0, NULL);
    assert_string_equal(out.ptr, "{\n    n?: unknown;\n    v?: number;\n}");
    cm_buf_clear(&out);
    cm_schema_render_type(&out, NULL, NULL, 0, NULL);
    assert_string_equal(out.ptr, "unknown");
}

static void names_in_defs_are_not_given_again(void **state)
{
    (void)state;
    cm_auto(yyjson_doc) one = parse("{\"$defs\":{\"N\":{\"enum\":[1]}},\"$ref\":\"#/$defs/N\"}");
    cm_auto(yyjson_doc) two = parse("{\"$defs\":{\"N\":{\"enum\":[2]}},\"$ref\":\"#/$defs/N\"}");
    cm_autobuf out = CM_BUF_INIT(MAX), defs = CM_BUF_INIT(MAX);

    cm_schema_render_type(&out, yyjson_doc_get_root(one), yyjson_doc_get_root(one), 0, &defs);
    cm_buf_add_char(&out, ' ');
    cm_schema_render_type(&out, yyjson_doc_get_root(two), yyjson_doc_get_root(two), 0, &defs);
    assert_string_equal(out.ptr, "N N2");
    assert_string_equal(defs.ptr, "type N = 1;\ntype N2 = 2;\n");
}

/* ---- bounds ---- */

/* Each of 40 schemas mentions the next one twice: 2^40 of them inline. */
#define DEF_REF "{\"$ref\":\"#/$defs/d%d\"}"

static void multiplying_references_are_bounded_in_text_and_time(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "{\"type\":\"object\",\"properties\":{\"l\":" DEF_REF ",\"r\":" DEF_REF "}}",
        "{\"anyOf\":[" DEF_REF "," DEF_REF "]}",
        "{\"allOf\":[" DEF_REF "," DEF_REF "],\"required\":[\"x\"]}",
    };

    for (size_t f = 0; f < CM_ARRAY_LEN(forms); f++) {
        cm_autobuf text = CM_BUF_INIT(MAX), out = CM_BUF_INIT(MAX);
        cm_buf_add_z(&text, "{\"$defs\":{");
        for (int i = 0; i < 40; i++) {
            cm_buf_addf(&text, "\"d%d\":", i);
            for (const char *p = forms[f]; *p; p++) {
                if (p[0] == '%' && p[1] == 'd') {
                    cm_buf_addf(&text, "%d", i + 1);
                    p++;
                } else {
                    cm_buf_add_char(&text, *p);
                }
            }
            cm_buf_add_char(&text, ',');
        }
        cm_buf_add_z(&text, "\"d40\":{\"type\":\"string\"}},\"$ref\":\"#/$defs/d0\"}");
        cm_auto(yyjson_doc) doc = parse(text.ptr);
        /* Rendered in full, 2 to the 40th names: what ends here at all was cut. */
        cm_schema_render_type(&out, yyjson_doc_get_root(doc), yyjson_doc_get_root(doc), 0, NULL);
        assert_false(out.failed);
        assert_true(out.len > 0 && out.len < CM_SCHEMA_TYPE_MAX_BYTES * 2);
    }
}

static void a_type_that_is_too_large_ends_in_unknown_with_the_rest_intact(void **state)
{
    (void)state;
    cm_autobuf text = CM_BUF_INIT(MAX), out = CM_BUF_INIT(MAX);
    struct cm_err err = {0};

    cm_buf_add_z(&text, "{\"type\":\"object\",\"properties\":{");
    for (int i = 0; i < 3000; i++)
        cm_buf_addf(&text, "%s\"p%d\":{\"enum\":[\"%0300d\"]}", i ? "," : "", i, i);
    cm_buf_add_z(&text, "}}");
    cm_auto(yyjson_doc) doc = parse(text.ptr);
    assert_int_equal(cm_schema_render_named(&out, "big", yyjson_doc_get_root(doc), &err), CM_OK);
    assert_non_null(strstr(out.ptr, "    p0?: \"000"));
    assert_non_null(strstr(out.ptr, "    p1999?: unknown;\n"));
    assert_non_null(strstr(out.ptr, "1000 more properties are left out"));
    assert_true(out.len < CM_SCHEMA_TYPE_MAX_BYTES * 2);
}

static void declarations_past_half_of_their_buffer_are_declared_unknown(void **state)
{
    (void)state;
    cm_autobuf text = CM_BUF_INIT(MAX), out = CM_BUF_INIT(MAX), defs = CM_BUF_INIT(400);

    cm_buf_add_z(&text, "{\"$defs\":{");
    for (int i = 0; i < 10; i++)
        cm_buf_addf(&text, "\"d%d\":{\"enum\":[\"%060d\",{\"k\":1}]},", i, i);
    cm_buf_add_z(&text, "\"x\":1},\"anyOf\":[");
    for (int i = 0; i < 5; i++)
        cm_buf_addf(&text, "%s{\"$ref\":\"#/$defs/d%d\"}", i ? "," : "", i);
    cm_buf_add_z(&text, "]}");
    cm_auto(yyjson_doc) doc = parse(text.ptr);
    cm_schema_render_type(&out, yyjson_doc_get_root(doc), yyjson_doc_get_root(doc), 0, &defs);
    assert_string_equal(out.ptr, "D0 | D1 | D2 | D3 | D4");
    assert_false(defs.failed);
    assert_non_null(strstr(defs.ptr, "type D4 = unknown; // left out\n"));
}

static void deep_nesting_of_every_kind_ends(void **state)
{
    (void)state;
    static const char *const opening[] = {"{\"items\":", "{\"anyOf\":[", "{\"allOf\":[",
                                          "{\"additionalProperties\":"};
    static const char *const closing[] = {"}", "]}", "]}", "}"};

    for (size_t k = 0; k < CM_ARRAY_LEN(opening); k++) {
        cm_autobuf text = CM_BUF_INIT(MAX), out = CM_BUF_INIT(MAX);
        for (int i = 0; i < 250; i++)
            cm_buf_add_z(&text, opening[k]);
        cm_buf_add_z(&text, "{}");
        for (int i = 0; i < 250; i++)
            cm_buf_add_z(&text, closing[k]);
        cm_auto(yyjson_doc) doc = parse(text.ptr);
        cm_schema_render_type(&out, yyjson_doc_get_root(doc), yyjson_doc_get_root(doc), 0, NULL);
        assert_non_null(strstr(out.ptr, "unknown"));
        struct cm_err err = {0};
        assert_int_equal(cm_schema_check(yyjson_doc_get_root(doc), yyjson_doc_get_root(doc),
                                         yyjson_doc_get_root(doc), &err),
                         CM_OK);
    }
}

static void only_an_object_or_a_boolean_is_a_schema(void **state)
{
    (void)state;
    cm_auto(yyjson_doc) doc = parse("[]");
    cm_autobuf out = CM_BUF_INIT(MAX);
    struct cm_err err = {0};

    assert_int_equal(cm_schema_render_named(&out, "x", yyjson_doc_get_root(doc), &err), CM_E_INVALID);
    assert_string_equal(err.message, "a schema is an object, true or false, not an array");
}

/* ---- signatures ---- */

static void signature_is(const char *input, const char *output, const char *expected)
{
    cm_auto(yyjson_doc) in = parse(input);
    cm_auto(yyjson_doc) result = parse(output);
    yyjson_val *i = yyjson_doc_get_root(in), *o = yyjson_doc_get_root(result);
    cm_autobuf out = CM_BUF_INIT(MAX);

    cm_schema_render_signature(
        &out,
        &(struct cm_schema_method){.name = "m", .in_root = i, .in_node = i, .out_root = o, .out_node = o},
        200);
    assert_string_equal(out.ptr, expected);
}

static void signatures_are_one_line_with_what_is_required_first(void **state)
{
    (void)state;
    signature_is("{}", "{}", "m(input?: unknown): Promise<unknown>");
    signature_is("{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"array\",\"items\":{\"type\":["
                 "\"string\",\"null\"]}},"
                 "\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}",
                 "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"x\":{}}}}",
                 "m(input: { a: number; b?: (string | null)[] }): Promise<{…}[]>");
    signature_is("{\"$ref\":\"#/$defs/I\",\"$defs\":{\"I\":{\"properties\":{\"p\":{\"$ref\":\"#/$defs/"
                 "Pet\"}}},\"Pet\":{\"properties\":{}}}}",
                 "{\"$ref\":\"#/$defs/"
                 "simple-user\",\"$defs\":{\"simple-user\":{\"type\":\"object\",\"properties\":{\"x\":{}}}}}",
                 "m(input?: { p?: Pet }): Promise<SimpleUser>");
    signature_is("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\",\"description\":\"x\"}}}",
                 "true", "m(input?: A): Promise<unknown>");
    cm_autobuf wide = CM_BUF_INIT(MAX), out = CM_BUF_INIT(MAX);
    cm_buf_add_z(&wide, "{\"type\":\"object\",\"properties\":{");
    for (int i = 0; i < 100; i++)
        cm_buf_addf(&wide, "%s\"property_%d\":{\"type\":\"string\"}", i ? "," : "", i);
    cm_buf_add_z(&wide, "}}");
    cm_auto(yyjson_doc) doc = parse(wide.ptr);
    yyjson_val *root = yyjson_doc_get_root(doc);
    cm_schema_render_signature(
        &out, &(struct cm_schema_method){.name = "m", .in_root = root, .in_node = root}, 200);
    assert_true(out.len > 150 && out.len < 240);
    assert_non_null(strstr(out.ptr, "; … }): Promise<unknown>"));
}

/* ---- checking arguments ---- */

#define ISSUE                                                                                               \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"title\"],\"properties\":{"         \
    "\"title\":{\"type\":\"string\"},"                                                                      \
    "\"state\":{\"enum\":[\"open\",\"closed\"]},\"labels\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/"    \
    "$defs/label\"}},"                                                                                      \
    "\"n\":{\"type\":\"integer\"},\"who\":{\"type\":[\"string\",\"null\"]},\"old\":{\"type\":\"string\","   \
    "\"nullable\":true},"                                                                                   \
    "\"one\":{\"const\":1},\"any\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]},"                \
    "\"two\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]},\"no\":false,"                       \
    "\"pair\":{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"number\"}},\"odd\":{\"$ref\":" \
    "\"#/nowhere\"}},"                                                                                      \
    "\"$defs\":{\"label\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":" \
    "\"string\"},"                                                                                          \
    "\"sub\":{\"$ref\":\"#/$defs/label\"}}}}}"

static void arguments_that_may_be_right_are_accepted(void **state)
{
    (void)state;
    static const char *const values[] = {
        "{\"title\":\"x\"}",
        "{\"title\":\"x\",\"state\":\"open\",\"labels\":[{\"name\":\"a\",\"sub\":{\"name\":\"b\"},\"more\":1}"
        "],\"n\":5.0}",
        "{\"title\":\"x\",\"who\":null,\"old\":null,\"one\":1.0,\"any\":null,\"two\":3,\"pair\":[\"a\",1,2],"
        "\"odd\":{\"q\":1}}",
    };
    cm_auto(yyjson_doc) schema = parse(ISSUE);

    for (size_t i = 0; i < CM_ARRAY_LEN(values); i++) {
        cm_auto(yyjson_doc) value = parse(values[i]);
        struct cm_err err = {0};
        if (cm_schema_check(yyjson_doc_get_root(schema), yyjson_doc_get_root(schema),
                            yyjson_doc_get_root(value), &err) != CM_OK)
            fail_msg("%s: %s", values[i], err.message);
    }
}

static void wrong_arguments_are_refused_with_what_would_be_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *value, *message;
    } cases[] = {
        {"[]", "the input must be an object, not an array"},
        {"{}", "title is missing and must be a string; accepted: title, state?, labels?, n?, who?, old?, "
               "one?, any?, two?, no?, pair?, odd?"},
        {"{\"titel\":\"x\"}", "titel is not accepted; did you mean \"title\"? Accepted: title, state?, "
                              "labels?, n?, who?, old?, one?, any?, two?, no?, pair?, odd?"},
        {"{\"title\":1}", "title must be a string, not a number"},
        {"{\"title\":\"x\",\"state\":\"opened\"}",
         "state must be one of \"open\", \"closed\", not \"opened\""},
        {"{\"title\":\"x\",\"labels\":[{\"name\":\"a\"},{\"name\":\"b\",\"sub\":{\"name\":2}}]}",
         "labels[1].sub.name must be a string, not a number"},
        {"{\"title\":\"x\",\"labels\":[{}]}",
         "labels[0].name is missing and must be a string; accepted: name, sub?"},
        {"{\"title\":\"x\",\"n\":1.5}", "n must be an integer, not a fraction"},
        {"{\"title\":\"x\",\"n\":\"1\"}", "n must be an integer, not a string"},
        {"{\"title\":\"x\",\"who\":1}", "who must be a string or null, not a number"},
        {"{\"title\":\"x\",\"one\":2}", "one must be 1, not 2"},
        {"{\"title\":\"x\",\"any\":1}", "any must be a string, not a number"},
        {"{\"title\":\"x\",\"two\":true}", "two must be a string, not a boolean (or one of 1 other forms)"},
        {"{\"title\":\"x\",\"no\":1}", "no is not accepted"},
        {"{\"title\":\"x\",\"pair\":[\"a\",\"b\"]}", "pair[1] must be a number, not a string"},
    };
    cm_auto(yyjson_doc) schema = parse(ISSUE);

    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        cm_auto(yyjson_doc) value = parse(cases[i].value);
        struct cm_err err = {0};
        assert_int_equal(cm_schema_check(yyjson_doc_get_root(schema), yyjson_doc_get_root(schema),
                                         yyjson_doc_get_root(value), &err),
                         CM_E_INVALID);
        assert_string_equal(err.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_gives_its_declarations),
        cmocka_unit_test(references_resolve_by_pointer_with_both_escapes),
        cmocka_unit_test(without_defs_recursion_ends_in_unknown),
        cmocka_unit_test(names_in_defs_are_not_given_again),
        cmocka_unit_test(multiplying_references_are_bounded_in_text_and_time),
        cmocka_unit_test(a_type_that_is_too_large_ends_in_unknown_with_the_rest_intact),
        cmocka_unit_test(declarations_past_half_of_their_buffer_are_declared_unknown),
        cmocka_unit_test(deep_nesting_of_every_kind_ends),
        cmocka_unit_test(only_an_object_or_a_boolean_is_a_schema),
        cmocka_unit_test(signatures_are_one_line_with_what_is_required_first),
        cmocka_unit_test(arguments_that_may_be_right_are_accepted),
        cmocka_unit_test(wrong_arguments_are_refused_with_what_would_be_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
