/** Values: documents with marks for what JSON has no form for. */
#include "base/limits.h"
#include "json/json.h"
#include "json/value.h"

#include <time.h>

#include "json_case.h"

/* ---- values ---- */

static void canonical_is(const char *json, const char *marks, const char *json_out, const char *marks_out)
{
    struct cm_err err = {0};
    cm_autovalue out = {0};

    if (cm_value_canonical((struct cm_value){str(json), str(marks)}, MAX, &out, &err) != CM_OK)
        fail_msg("%s %s: %s", json, marks, err.message);
    assert_string_equal(out.json, json_out);
    assert_string_equal(out.marks, marks_out);
}

static void refuses(const char *json, const char *marks, const char *part)
{
    struct cm_err err = {0};
    cm_autovalue out = {0};

    assert_int_equal(cm_value_canonical((struct cm_value){str(json), str(marks)}, MAX, &out, &err),
                     CM_E_INVALID);
    assert_null(out.json);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in '%s'", part, err.message);
}

static void marks_are_sorted_and_kept(void **state)
{
    (void)state;
    canonical_is("", "", "", "");
    canonical_is("null", "{}", "null", "");
    canonical_is("null", "{\"\":\"undefined\"}", "null", "{\"\":\"undefined\"}");
    canonical_is("{\"b\":null, \"a\":\"1\"}", "{ \"/b\":\"nan\", \"/a\":\"bigint\"}",
                 "{\"a\":\"1\",\"b\":null}", "{\"/a\":\"bigint\",\"/b\":\"nan\"}");
    canonical_is("{\"a/b\":{\"~\":[null,\"\"]},\"a!\":0}",
                 "{\"/a!\":\"-0\",\"/a~1b/~0/1\":\"bytes\",\"/a~1b/~0/0\":\"-inf\"}",
                 "{\"a!\":0,\"a/b\":{\"~\":[null,\"\"]}}",
                 "{\"/a!\":\"-0\",\"/a~1b/~0/0\":\"-inf\",\"/a~1b/~0/1\":\"bytes\"}");
    canonical_is("[[[1,{\"m\":\"AAA=\"}]],-8640000000000000,null,\"\",{}]",
                 "{\"/0\":\"map\",\"/0/0/1\":\"error\",\"/0/0/1/m\":\"int16\",\"/1\":\"date\",\"/"
                 "2\":\"date\",\"/3\":\"float64\",\"\":\"set\"}",
                 "[[[1,{\"m\":\"AAA=\"}]],-8640000000000000,null,\"\",{}]",
                 "{\"\":\"set\",\"/0\":\"map\",\"/0/0/1\":\"error\",\"/0/0/1/m\":\"int16\",\"/"
                 "1\":\"date\",\"/2\":\"date\",\"/3\":"
                 "\"float64\"}");
}

static void a_mark_must_point_at_a_stand_in_of_its_kind(void **state)
{
    (void)state;
    refuses("1", "{\"\":\"nan\"}", "must stand for null, but is a number");
    refuses("1", "{\"\":\"-0\"}", "must stand for 0");
    refuses("\"01\"", "{\"\":\"bigint\"}", "decimal integer");
    refuses("\"-0\"", "{\"\":\"bigint\"}", "decimal integer");
    refuses("\"\"", "{\"\":\"bigint\"}", "decimal integer");
    refuses("1.5", "{\"\":\"date\"}", "milliseconds");
    refuses("8640000000000001", "{\"\":\"date\"}", "milliseconds");
    refuses("[[1]]", "{\"\":\"map\"}", "pairs");
    refuses("{}", "{\"\":\"set\"}", "an array");
    refuses("[]", "{\"\":\"error\"}", "an object");
    refuses("\"AA\"", "{\"\":\"bytes\"}", "base64");
    refuses("\"AB==\"", "{\"\":\"bytes\"}", "base64");
    refuses("\"====\"", "{\"\":\"bytes\"}", "base64");
    refuses("\"AA_=\"", "{\"\":\"bytes\"}", "base64");
    refuses("\"AAA=\"", "{\"\":\"float32\"}", "whole elements");
    refuses("[[1,2]]", "{\"\":\"map\",\"/0\":\"set\"}", "\"/0\" is the pair of a map");
    refuses("{\"a\":null}", "{\"/b\":\"nan\"}", "\"/b\" points at nothing");
    refuses("[null]", "{\"/00\":\"nan\"}", "\"/00\" points at nothing");
    refuses("[null]", "{\"/-\":\"nan\"}", "points at nothing");
    refuses("{\"a\":null}", "{\"/a/\":\"nan\"}", "points at nothing");
    refuses("null", "{\"a\":\"nan\"}", "no JSON pointer");
    refuses("null", "{\"/~2\":\"nan\"}", "no JSON pointer");
    refuses("null", "{\"\":\"strange\"}", "unknown kind \"strange\"");
    refuses("null", "{\"\":1}", "unknown kind");
    refuses("null", "[]", "expected an object");
    refuses("null", "{\"\":\"nan\",\"\":\"nan\"}", "given twice");
    refuses("", "{\"\":\"nan\"}", "absent");
}

static void hostile_values_are_refused_with_their_place(void **state)
{
    (void)state;
    refuses("{\"a\":[1,\"x\\ud800\"]}", "", "\"/a/1\" has a lone surrogate");
    refuses("{\"a\":{\"b\":\"\\udc00\"}}", "", "\"/a/b\" has a lone surrogate");
    refuses("{\"q\\\"\":[{},{\"z\":\"\\ud83d\\u0041\"}]}", "", "/1/z\" has a lone surrogate");
    refuses("{\"\\ud800\":1}", "", "\"\" has a lone surrogate");
    refuses("{\"x\":{\"a\":1,\"b\":2,\"\\u0061\":3}}", "", "\"/x/a\" is given twice");
    refuses("\"\xff\"", "", "UTF-8");
    refuses("1e400", "", "infinity");
    refuses("{", "", "line 1");
}

static void bytes_are_bounded_together(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autovalue out = {0};
    struct cm_value v = {str("null"), str("{\"\":\"nan\"}")};

    assert_int_equal(cm_value_canonical(v, 14, &out, &err), CM_OK);
    cm_value_done(&out);
    assert_int_equal(cm_value_canonical(v, 13, &out, &err), CM_E_LIMIT);
    assert_int_equal(cm_value_canonical((struct cm_value){.json = str("1e20")}, 10, &out, &err), CM_E_LIMIT);
    assert_int_equal(cm_value_from_json(str("[1,2,3]"), 6, &out, &err), CM_E_LIMIT);
    assert_int_equal(cm_value_from_json(str("[9007199254740993]"), 30, &out, &err), CM_E_LIMIT);
    assert_null(out.json);
}

static void from_json_is(const char *text, const char *json, const char *marks)
{
    struct cm_err err = {0};
    cm_autovalue out = {0};

    if (cm_value_from_json(str(text), MAX, &out, &err) != CM_OK)
        fail_msg("%s: %s", text, err.message);
    assert_string_equal(out.json, json);
    assert_string_equal(out.marks, marks);
    /* What it gives passes the check unchanged. */
    cm_autovalue again = {0};
    assert_int_equal(cm_value_checked(cm_value_view(&out), MAX, &again, &err), CM_OK);
    assert_string_equal(again.json, json);
    assert_string_equal(again.marks, marks);
}

static void members_of_results_keep_their_order(void **state)
{
    (void)state;
    from_json_is("{\"z\":1,\"a\":{\"y\":2,\"b\":3},\"m\":[]}", "{\"z\":1,\"a\":{\"y\":2,\"b\":3},\"m\":[]}",
                 "");
    /* As JSON.parse: of equal keys the first gives the place, the last the value. */
    from_json_is("{\"z\":1,\"a\":2,\"z\":3}", "{\"z\":3,\"a\":2}", "");
    from_json_is("{\"z\":99999999999999999999,\"a\":2,\"z\":3}", "{\"z\":3,\"a\":2}", "");
}

static void numbers_from_outside_are_never_rounded(void **state)
{
    (void)state;
    from_json_is("9007199254740992", "9007199254740992", "");
    from_json_is("9007199254740993", "\"9007199254740993\"", "{\"\":\"bigint\"}");
    from_json_is("-9007199254740993", "\"-9007199254740993\"", "{\"\":\"bigint\"}");
    from_json_is("18446744073709551615", "\"18446744073709551615\"", "{\"\":\"bigint\"}");
    from_json_is("-123456789012345678901234567890", "\"-123456789012345678901234567890\"",
                 "{\"\":\"bigint\"}");
    from_json_is("[1e400,-1e400,-0,-0.0,0,1e2,1.0]", "[null,null,0,0,0,100,1]",
                 "{\"/0\":\"inf\",\"/1\":\"-inf\",\"/2\":\"-0\",\"/3\":\"-0\"}");
    from_json_is("{\"b/\":{\"\":99999999999999999999},\"b!\":-0}",
                 "{\"b/\":{\"\":\"99999999999999999999\"},\"b!\":0}",
                 "{\"/b!\":\"-0\",\"/b~1/\":\"bigint\"}");
}

static void outside_text_is_read_like_json_parse_reads_it(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autovalue out = {0};

    from_json_is("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", "");
    from_json_is("\"cut \\ud83d\"", "\"cut \xef\xbf\xbd\"", "");
    from_json_is("\"\\\\ud83d \\ude00 \\ud83d\\ude00\"", "\"\\\\ud83d \xef\xbf\xbd \xf0\x9f\x98\x80\"", "");
    from_json_is("\"latin \xe9\"", "\"latin \xef\xbf\xbd\"", "");
    from_json_is("\xef\xbb\xbf true", "true", "");
    from_json_is("{\"$map\":[],\"__proto__\":1}", "{\"$map\":[],\"__proto__\":1}", "");
    assert_int_equal(cm_value_from_json(str("no"), MAX, &out, &err), CM_E_INVALID);
    assert_int_equal(cm_value_from_json(str(""), MAX, &out, &err), CM_E_INVALID);
    assert_int_equal(cm_value_from_json(str("\"\\ud83d"), MAX, &out, &err), CM_E_INVALID);
}

static void text_becomes_a_string_value(void **state)
{
    (void)state;
    cm_autovalue v = cm_value_from_text(cm_str_mk("a\0\xff\"", 4));
    cm_autovalue copy = cm_value_dup(cm_value_view(&v));

    assert_string_equal(v.json, "\"a\\u0000\xef\xbf\xbd\\\"\"");
    assert_string_equal(copy.json, v.json);
    assert_int_equal(copy.json_len, v.json_len);
    assert_int_equal(copy.marks_len, 0);
}

/* ---- views ---- */

#define ALL_JSON                                                                                           \
    "{\"u\":null,\"n\":null,\"i\":null,\"j\":null,\"z\":0,\"b\":\"12345678901234567890\",\"d\":"           \
    "951782400123,\"x\":null,"                                                                             \
    "\"m\":[[\"k\",null]],\"s\":[null,1],\"e\":{\"message\":\"bad\",\"name\":\"E\",\"$c\":1},\"y\":\"AQI=" \
    "\",\"w\":\"AAAAAAAA8D8=\","                                                                           \
    "\"a\":[null],\"$p\":{\"$$q\":true}}"
#define ALL_MARKS                                                                                  \
    "{\"/u\":\"undefined\",\"/n\":\"nan\",\"/i\":\"inf\",\"/j\":\"-inf\",\"/z\":\"-0\",\"/"        \
    "b\":\"bigint\",\"/d\":\"date\",\"/x\":\"date\","                                              \
    "\"/m\":\"map\",\"/m/0/1\":\"undefined\",\"/s\":\"set\",\"/s/0\":\"nan\",\"/e\":\"error\",\"/" \
    "y\":\"bytes\",\"/w\":\"float64\","                                                            \
    "\"/a/0\":\"undefined\"}"

static void tools_receive_what_json_stringify_would_send(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autobuf out = CM_BUF_INIT(MAX);

    assert_int_equal(cm_value_to_tool_json((struct cm_value){str(ALL_JSON), str(ALL_MARKS)}, &out, &err),
                     CM_OK);
    assert_string_equal(
        out.ptr,
        "{\"n\":null,\"i\":null,\"j\":null,\"z\":0,\"b\":12345678901234567890,\"d\":\"2000-02-29T00:00:00."
        "123Z\","
        "\"x\":null,\"m\":{},\"s\":{},\"e\":{\"message\":\"bad\",\"name\":\"E\",\"$c\":1},\"y\":\"AQI=\","
        "\"w\":\"AAAAAAAA8D8=\",\"a\":[null],\"$p\":{\"$$q\":true}}");
    cm_buf_clear(&out);
    assert_int_equal(cm_value_to_tool_json((struct cm_value){0}, &out, &err), CM_OK);
    assert_string_equal(out.ptr, "{}");
    cm_buf_clear(&out);
    assert_int_equal(
        cm_value_to_tool_json((struct cm_value){str("null"), str("{\"\":\"undefined\"}")}, &out, &err),
        CM_OK);
    assert_string_equal(out.ptr, "{}");
}

static void readers_see_forms_that_no_document_can_imitate(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autobuf out = CM_BUF_INIT(MAX);
    bool appended = false;

    assert_int_equal(
        cm_value_to_reader_json((struct cm_value){str(ALL_JSON), str(ALL_MARKS)}, &out, &appended, &err),
        CM_OK);
    assert_true(appended);
    assert_string_equal(
        out.ptr,
        "{\"n\":\"NaN\",\"i\":\"Infinity\",\"j\":\"-Infinity\",\"z\":0,\"b\":\"12345678901234567890\","
        "\"d\":\"2000-02-29T00:00:00.123Z\",\"x\":null,\"m\":{\"$map\":[[\"k\",null]]},\"s\":{\"$set\":["
        "\"NaN\",1]},"
        "\"e\":{\"$error\":{\"message\":\"bad\",\"name\":\"E\",\"$$c\":1}},\"y\":{\"$bytes\":\"AQI=\"},"
        "\"w\":{\"$bytes\":\"AAAAAAAA8D8=\",\"$type\":\"float64\"},\"a\":[null],\"$$p\":{\"$$$q\":true}}");
    cm_buf_clear(&out);
    assert_int_equal(
        cm_value_to_reader_json((struct cm_value){.json = str("{\"$bytes\":1}")}, &out, &appended, &err),
        CM_OK);
    assert_string_equal(out.ptr, "{\"$$bytes\":1}");
    cm_buf_clear(&out);
    assert_int_equal(cm_value_to_reader_json((struct cm_value){0}, &out, &appended, &err), CM_OK);
    assert_false(appended);
    assert_int_equal(out.len, 0);
    assert_int_equal(cm_value_to_reader_json((struct cm_value){str("null"), str("{\"\":\"undefined\"}")},
                                             &out, &appended, &err),
                     CM_OK);
    assert_false(appended);
    assert_int_equal(
        cm_value_to_reader_json((struct cm_value){str("1"), str("{\"\":\"map\"}")}, &out, &appended, &err),
        CM_E_INVALID);
}

/* 300 Sets in each other are 300 levels in the value and 600 in the form {"$set": [...]}. */
static void the_readers_form_is_never_deeper_than_json_may_be(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_autobuf out = CM_BUF_INIT(MAX), marks = CM_BUF_INIT(MAX), path = CM_BUF_INIT(MAX);
    cm_autofree char *json = nested(300);
    cm_autovalue value = {0};
    bool appended = false;

    cm_buf_add_z(&marks, "{\"\":\"set\"");
    for (int i = 1; i < 300; i++) {
        cm_buf_add_z(&path, "/0");
        cm_buf_addf(&marks, ",\"%s\":\"set\"", path.ptr);
    }
    cm_buf_add_char(&marks, '}');
    assert_int_equal(cm_value_canonical((struct cm_value){str(json), cm_buf_str(&marks)}, MAX, &value, &err),
                     CM_OK);
    assert_int_equal(cm_value_to_reader_json(cm_value_view(&value), &out, &appended, &err), CM_E_LIMIT);
}

static void dates_print_as_iso_text_at_every_edge(void **state)
{
    (void)state;
    static const struct {
        const char *ms, *text;
    } cases[] = {
        {"0", "\"1970-01-01T00:00:00.000Z\""},
        {"-1", "\"1969-12-31T23:59:59.999Z\""},
        {"8640000000000000", "\"+275760-09-13T00:00:00.000Z\""},
        {"-8640000000000000", "\"-271821-04-20T00:00:00.000Z\""},
        {"253402300799999", "\"9999-12-31T23:59:59.999Z\""},
        {"253402300800000", "\"+010000-01-01T00:00:00.000Z\""},
        {"-62167219200000", "\"0000-01-01T00:00:00.000Z\""},
        {"-62167219200001", "\"-000001-12-31T23:59:59.999Z\""},
        {"4107542400000", "\"2100-03-01T00:00:00.000Z\""},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        struct cm_err err = {0};
        cm_autobuf out = CM_BUF_INIT(100);
        assert_int_equal(
            cm_value_to_tool_json((struct cm_value){str(cases[i].ms), str("{\"\":\"date\"}")}, &out, &err),
            CM_OK);
        assert_string_equal(out.ptr, cases[i].text);
    }
}

/** Processor time, in microseconds, that a value of n members, each of them marked, takes. */
static int64_t cost_of_marks(int n)
{
    struct cm_err err = {0};
    cm_autobuf json = CM_BUF_INIT(4u << 20), marks = CM_BUF_INIT(4u << 20);
    cm_autovalue out = {0};

    for (int i = 0; i < n; i++) {
        cm_buf_addf(&json, "%c\"k%d\":null", i ? ',' : '{', i);
        cm_buf_addf(&marks, "%c\"/k%d\":\"nan\"", i ? ',' : '{', i);
    }
    cm_buf_add_char(&json, '}');
    cm_buf_add_char(&marks, '}');
    clock_t start = clock();
    assert_int_equal(
        cm_value_canonical((struct cm_value){cm_buf_str(&json), cm_buf_str(&marks)}, 8u << 20, &out, &err),
        CM_OK);
    return (int64_t)(clock() - start) * 1000000 / CLOCKS_PER_SEC;
}

/* Looking each mark up on its own takes 256 times as long for 16 times as many; sorting them about 20 times. */
static void many_marks_cost_no_more_than_sorting_them(void **state)
{
    (void)state;
    int64_t few = cost_of_marks(2500), many = cost_of_marks(40000);

    print_message("2,500 marks: %lld us; 40,000: %lld us\n", (long long)few, (long long)many);
    assert_true(many < 100 * (few + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_sorted_and_kept),
        cmocka_unit_test(a_mark_must_point_at_a_stand_in_of_its_kind),
        cmocka_unit_test(hostile_values_are_refused_with_their_place),
        cmocka_unit_test(bytes_are_bounded_together),
        cmocka_unit_test(members_of_results_keep_their_order),
        cmocka_unit_test(numbers_from_outside_are_never_rounded),
        cmocka_unit_test(outside_text_is_read_like_json_parse_reads_it),
        cmocka_unit_test(text_becomes_a_string_value),
        cmocka_unit_test(tools_receive_what_json_stringify_would_send),
        cmocka_unit_test(readers_see_forms_that_no_document_can_imitate),
        cmocka_unit_test(the_readers_form_is_never_deeper_than_json_may_be),
        cmocka_unit_test(dates_print_as_iso_text_at_every_edge),
        cmocka_unit_test(many_marks_cost_no_more_than_sorting_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
