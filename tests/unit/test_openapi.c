/**
 * OpenAPI descriptions. What an operation becomes and what is sent for its arguments stands in
 * tests/cases/openapi: a description and a NAME.cases.json beside it, whose members the functions below read.
 * Adding a case needs no C.
 */
#include "connector/openapi.h"

#include "base/clock.h"
#include "base/fd.h"
#include "connector/yaml.h"
#include "schema/schema.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *root_folder(void)
{
    const char *root = getenv("CM_SOURCE_ROOT");

    return root ? root : ".";
}

static char *cases_path(const char *name)
{
    return cm_asprintf("%s/tests/cases/openapi/%s", root_folder(), name);
}

static yyjson_doc *parse_file(const char *path)
{
    cm_autofree char *text = NULL;
    size_t len = 0;
    yyjson_doc *doc = NULL;
    struct cm_err err;

    if (cm_read_file(path, 1 << 20, &text, &len, &err) != CM_OK ||
        cm_json_parse(cm_str_mk(text, len), CM_JSON_RELAXED, &doc, &err) != CM_OK)
        fail_msg("%s: %s", path, err.message);
    return doc;
}

static char *text_of(yyjson_val *v)
{
    struct cm_buf b = CM_BUF_INIT(1 << 20);

    cm_json_write(&b, v);
    return cm_buf_take(&b, NULL);
}

/* ---- options ---- */

struct pairs {
    struct cm_pair list[8];
    size_t n;
};

static void read_pairs(yyjson_val *obj, struct pairs *out)
{
    size_t i, max;
    yyjson_val *key, *val;

    yyjson_obj_foreach(obj, i, max, key, val)
    {
        assert_true(out->n < CM_ARRAY_LEN(out->list));
        out->list[out->n++] = (struct cm_pair){yyjson_get_str(key), yyjson_get_str(val)};
    }
}

static void read_list(yyjson_val *arr, const char *out[9])
{
    size_t i, max;
    yyjson_val *val;

    yyjson_arr_foreach(arr, i, max, val)
    {
        assert_true(i < 8);
        out[i] = yyjson_get_str(val);
    }
}

/* ---- one file of cases ---- */

static void check_lines(const char *file, const char *what, yyjson_val *want, struct cm_buf *got)
{
    cm_autobuf expected = CM_BUF_INIT(1 << 20);
    size_t i, max;
    yyjson_val *line;

    yyjson_arr_foreach(want, i, max, line)
    {
        cm_buf_addf(&expected, "%s\n", yyjson_get_str(line));
    }
    if (!cm_str_eq(cm_buf_str(&expected), cm_buf_str(got)))
        fail_msg("%s: %s\nexpected:\n%s\ngot:\n%s", file, what, expected.ptr ? expected.ptr : "",
                 got->ptr ? got->ptr : "");
}

static void check_table(const char *file, struct cm_oa *oa, yyjson_val *c)
{
    cm_autobuf ops = CM_BUF_INIT(1 << 20);
    cm_autobuf skips = CM_BUF_INIT(1 << 20);

    for (size_t i = 0; i < oa->n_ops; i++)
        cm_buf_addf(&ops, "%s = %s%s%s\n", oa->ops[i].name, oa->ops[i].origin,
                    oa->ops[i].flags & CM_METHOD_READ_ONLY ? " read-only" : "",
                    oa->ops[i].flags & CM_METHOD_IDEMPOTENT ? " idempotent" : "");
    for (size_t i = 0; i < oa->n_skips; i++)
        cm_buf_addf(&skips, "%s %s: %s\n", oa->skips[i].method, oa->skips[i].path, oa->skips[i].reason);
    if (cm_json_get(c, "operations"))
        check_lines(file, "operations", cm_json_get(c, "operations"), &ops);
    if (cm_json_get(c, "skipped"))
        check_lines(file, "skipped", cm_json_get(c, "skipped"), &skips);
}

static void check_schemas(const char *file, struct cm_oa *oa, yyjson_val *want)
{
    size_t k, max;
    yyjson_val *name, *val;

    yyjson_obj_foreach(want, k, max, name, val)
    {
        long i = cm_namemap_get(&oa->index, cm_json_str(name));
        struct cm_schema_ref input, output;
        cm_autobuf types = CM_BUF_INIT(1 << 20);
        if (i < 0)
            fail_msg("%s: types: there is no operation '%s'", file, yyjson_get_str(name));
        cm_oa_schemas(oa, (size_t)i, &input, &output);
        cm_autofree char *in = text_of(input.node);
        cm_autofree char *out = output.node ? text_of(output.node) : cm_strdup("none");
        cm_buf_addf(&types, "%s\n%s\n", in, out);
        check_lines(file, yyjson_get_str(name), val, &types);
    }
}

static void check_request(const char *file, struct cm_oa *oa, const struct cm_oa_options *options,
                          yyjson_val *c)
{
    const char *name = cm_json_get_z(c, "call");
    const char *want_error = cm_json_get_z(c, "error");
    cm_autofree char *args = text_of(cm_json_get(c, "args"));
    cm_autofree char *marks = cm_json_get(c, "marks") ? text_of(cm_json_get(c, "marks")) : cm_strdup("");
    long i = cm_namemap_get(&oa->index, cm_str_of(name));
    struct cm_oa_request rq = {0};
    struct cm_err err;

    if (i < 0)
        fail_msg("%s: there is no operation '%s'", file, name);
    cm_status st = cm_oa_request(oa, (size_t)i, options, (struct cm_value){cm_str_of(args), cm_str_of(marks)},
                                 &rq, &err);
    if (st != CM_OK) {
        if (!want_error || !strstr(err.message, want_error))
            fail_msg("%s: %s(%s): %s\nexpected: %s", file, name, args, err.message,
                     want_error ? want_error : "a request");
        return;
    }
    if (want_error)
        fail_msg("%s: %s(%s) should fail with '%s' but gives %s %s", file, name, args, want_error, rq.method,
                 rq.url);
    cm_autobuf got = CM_BUF_INIT(1 << 20);
    cm_buf_addf(&got, "%s %s\n", rq.method, rq.url);
    for (size_t k = 0; k < rq.n_headers; k++)
        if (strcmp(rq.headers[k], "Accept: application/json, */*;q=0.5") != 0)
            cm_buf_addf(&got, "%s\n", rq.headers[k]);
    if (rq.has_body)
        cm_buf_addf(&got, "%.*s\n", (int)rq.body.len, rq.body.ptr ? rq.body.ptr : "");
    cm_oa_request_done(&rq);
    check_lines(file, args, cm_json_get(c, "request"), &got);
}

static void check_cases(const char *file)
{
    cm_autofree char *path = cases_path(file);
    cm_auto(yyjson_doc) doc = parse_file(path);
    yyjson_val *c = yyjson_doc_get_root(doc);
    cm_autofree char *spec = cases_path(cm_json_get_z(c, "spec"));
    struct pairs headers = {.n = 0}, auth = {.n = 0};
    const char *include[9] = {NULL}, *exclude[9] = {NULL};
    yyjson_doc *description = NULL;
    cm_auto_oa oa = NULL;
    struct cm_err err;
    size_t i, max;
    yyjson_val *request;

    read_pairs(cm_json_get(c, "headers"), &headers);
    read_pairs(cm_json_get(c, "auth"), &auth);
    read_list(cm_json_get(c, "include"), include);
    read_list(cm_json_get(c, "exclude"), exclude);
    struct cm_oa_options options = {.base_url = cm_json_get_z(c, "baseUrl"),
                                    .headers = headers.list,
                                    .n_headers = headers.n,
                                    .auth = auth.list,
                                    .n_auth = auth.n,
                                    .include = include[0] ? include : NULL,
                                    .exclude = exclude[0] ? exclude : NULL};
    cm_status st = cm_oa_load(spec, &description, &err);
    if (st == CM_OK)
        st = cm_oa_new(description, &options, &oa, &err);
    if (cm_json_get_z(c, "fails")) {
        if (st == CM_OK || !strstr(err.message, cm_json_get_z(c, "fails")))
            fail_msg("%s: expected failure '%s', got '%s'", file, cm_json_get_z(c, "fails"),
                     st == CM_OK ? "none" : err.message);
        return;
    }
    if (st != CM_OK)
        fail_msg("%s: %s", file, err.message);
    const char *base = cm_json_get_z(c, "base");
    const char *got = oa->base_url ? oa->base_url : oa->base_error;
    if (base && !strstr(got, base))
        fail_msg("%s: base is '%s', expected '%s'", file, got, base);
    check_table(file, oa, c);
    check_schemas(file, oa, cm_json_get(c, "schemas"));
    yyjson_arr_foreach(cm_json_get(c, "requests"), i, max, request)
    {
        check_request(file, oa, &options, request);
    }
}

static void every_case_gives_what_it_says(void **state)
{
    cm_autofree char *folder = cases_path("");
    DIR *dir = opendir(folder);
    struct dirent *e = NULL;
    int n = 0;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir)))
        if (strstr(e->d_name, ".cases.json")) {
            check_cases(e->d_name);
            n++;
        }
    closedir(dir);
    assert_true(n >= 8);
}

/* ---- YAML ---- */

static void yaml_scalars_are_those_of_the_core_schema(void **state)
{
    static const char *const cases[][2] = {
        {"[1, -2, +3, 007, 0x1F, 0o17, 1.50, .5, 1e3, 1.]", "[1,-2,3,7,31,15,1.5,0.5,1000.0,1]"},
        {"[yes, no, on, 1_000, 2020-01-01, 0b1, 1.2.3, .nan, '1', \"true\", !!str 5]",
         "[\"yes\",\"no\",\"on\",\"1_000\",\"2020-01-01\",\"0b1\",\"1.2.3\",\".nan\",\"1\",\"true\",\"5\"]"},
        {"[true, False, ~, null, ]", "[true,false,null,null]"},
        {"200: ok\ntrue: x", "{\"200\":\"ok\",\"true\":\"x\"}"},
        {"a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}\ne: *x",
         "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":3,\"c\":2},\"e\":{\"b\":1,\"c\":2}}"},
        {"t: |\n  a\n  b\nf: >-\n  a\n  b\n", "{\"t\":\"a\\nb\\n\",\"f\":\"a b\"}"},
    };

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        cm_auto(yyjson_doc) doc = NULL;
        struct cm_err err;
        if (cm_yaml_parse(cm_str_of(cases[i][0]), &doc, &err) != CM_OK)
            fail_msg("%s: %s", cases[i][0], err.message);
        cm_autofree char *got = text_of(yyjson_doc_get_root(doc));
        assert_string_equal(got, cases[i][1]);
    }
}

static void hostile_yaml_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text;
        cm_status status;
        const char *says;
    } cases[] = {
        {"a: &a [*a]", CM_E_INVALID, "line 1, column 9"},
        {"a: *b", CM_E_INVALID, "no anchor"},
        {"? [a]\n: 1", CM_E_INVALID, "key"},
        {"a: [1\nb: 2", CM_E_INVALID, "line "},
        {"", CM_E_INVALID, "empty"},
        {"a: \xff", CM_E_INVALID, "UTF-8"},
    };
    cm_autobuf bomb = CM_BUF_INIT(1 << 20);
    cm_autobuf deep = CM_BUF_INIT(1 << 20);
    yyjson_doc *doc = NULL;
    struct cm_err err;

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        assert_int_equal(cm_yaml_parse(cm_str_of(cases[i].text), &doc, &err), cases[i].status);
        if (!strstr(err.message, cases[i].says))
            fail_msg("'%s' gives: %s", cases[i].text, err.message);
    }
    cm_buf_add_z(&bomb, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 12; i++) {
        cm_buf_addf(&bomb, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            cm_buf_addf(&bomb, "*a%d%s", i - 1, k < 9 ? "," : "]\n");
    }
    assert_int_equal(cm_yaml_parse(cm_buf_str(&bomb), &doc, &err), CM_E_LIMIT);
    for (int i = 0; i < 5000; i++)
        cm_buf_add_char(&deep, '[');
    assert_int_equal(cm_yaml_parse(cm_buf_str(&deep), &doc, &err), CM_E_LIMIT);
}

/* ---- files ---- */

static void put(const char *folder, const char *name, const char *text)
{
    cm_autofree char *path = cm_asprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static void files_beside_a_description_are_read_and_no_others(void **state)
{
    char top[] = "/tmp/codemode-test-XXXXXX";
    yyjson_doc *doc = NULL;
    cm_auto_oa oa = NULL;
    struct cm_err err;

    (void)state;
    assert_non_null(mkdtemp(top));
    cm_autofree char *folder = cm_asprintf("%s/in", top);
    cm_autofree char *sub = cm_asprintf("%s/sub dir", folder);
    cm_autofree char *spec = cm_asprintf("%s/spec.yaml", folder);
    cm_autofree char *link = cm_asprintf("%s/link.yaml", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(sub, 0700), 0);
    put(top, "secret.yaml", "name: q\nin: query\nschema: {type: string}\n");
    assert_int_equal(symlink("../secret.yaml", link), 0);
    put(folder, "spec.yaml",
        "openapi: 3.1.0\ninfo: {title: t, version: '1'}\nservers: [{url: 'http://h'}]\npaths:\n"
        "  /a: {get: {operationId: a, parameters: [{$ref: 'sub%20dir/p.yaml#/Limit'}]}}\n"
        "  /b: {get: {operationId: b, parameters: [{$ref: '../secret.yaml'}]}}\n"
        "  /c: {get: {operationId: c, parameters: [{$ref: link.yaml}]}}\n"
        "  /d: {get: {operationId: d, parameters: [{$ref: 'http://x/y.yaml'}]}}\n"
        "  /e: {$ref: item.yaml}\n"
        "components: {parameters: {Offset: {name: offset, in: query}}}\n");
    put(sub, "p.yaml",
        "Limit: {name: limit, in: query, schema: {$ref: '#/Int'}}\nInt: {type: integer}\nBack: {$ref: "
        "'../spec.yaml#/components/parameters/Offset'}\n");
    put(folder, "item.yaml", "post: {operationId: e, parameters: [{$ref: 'sub dir/p.yaml#/Back'}]}\n");
    assert_int_equal(cm_oa_load(spec, &doc, &err), CM_OK);
    assert_int_equal(cm_oa_new(doc, &(struct cm_oa_options){0}, &oa, &err), CM_OK);
    assert_int_equal(oa->n_ops, 2);
    assert_string_equal(oa->ops[0].params[0].name, "limit");
    yyjson_val *target = cm_oa_deref(oa->root, oa->ops[0].params[0].schema);
    assert_string_equal(cm_json_get_z(target, "type"), "integer");
    assert_string_equal(oa->ops[1].origin, "POST /e");
    assert_string_equal(oa->ops[1].params[0].name, "offset");
    assert_int_equal(oa->n_skips, 3);
    assert_non_null(strstr(oa->skips[0].reason, "'../secret.yaml'"));
    assert_non_null(strstr(oa->skips[1].reason, "'link.yaml'"));
    assert_non_null(strstr(oa->skips[2].reason, "'http://x/y.yaml'"));
    cm_autofree char *command = cm_asprintf("rm -r %s", top);
    assert_int_equal(system(command), 0);
}

/* ---- a large one ---- */

static void a_description_of_many_megabytes_is_ready_in_well_under_a_second(void **state)
{
    cm_autofree char *path =
        cm_asprintf("%s/node_modules/@octokit/openapi/generated/api.github.com.json", root_folder());
    yyjson_doc *doc = NULL;
    cm_auto_oa oa = NULL;
    struct cm_err err;
    struct cm_schema_ref input, output;

    (void)state;
    if (access(path, R_OK) != 0) {
        print_message("# skipped: the npm package @octokit/openapi is not installed\n");
        skip();
    }
    int64_t start = cm_mono_us();
    assert_int_equal(cm_oa_load(path, &doc, &err), CM_OK);
    int64_t parsed = cm_mono_us();
    assert_int_equal(cm_oa_new(doc, &(struct cm_oa_options){0}, &oa, &err), CM_OK);
    int64_t tabled = cm_mono_us();
    print_message("# %zu operations, %zu left out; parsed in %ld us, table in %ld us\n", oa->n_ops,
                  oa->n_skips, (long)(parsed - start), (long)(tabled - parsed));
    assert_true(oa->n_ops > 900);
    long i = cm_namemap_get(&oa->index, CM_STR("issues_create"));
    assert_true(i >= 0);
    cm_oa_schemas(oa, (size_t)i, &input, &output);
    assert_non_null(cm_json_get(cm_json_get(input.node, "properties"), "owner"));
    assert_non_null(output.node);
    assert_true(tabled - start < 1000000);
}

static void a_file_is_described_without_a_service(void **state)
{
    cm_autofree char *path = cases_path("petstore.yaml");
    cm_autobuf out = CM_BUF_INIT(1 << 20);
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_openapi_describe_file(path, "pets", &out, &err), CM_OK);
    assert_int_equal(cm_json_parse(cm_buf_str(&out), CM_JSON_STRICT, &doc, &err), CM_OK);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *first = yyjson_arr_get_first(cm_json_get(root, "operations"));
    assert_string_equal(cm_json_get_z(first, "name"), "listPets");
    assert_string_equal(cm_json_get_z(first, "method"), "GET");
    assert_string_equal(cm_json_get_z(first, "path"), "/pets");
    assert_true(yyjson_is_arr(cm_json_get(root, "skipped")));
    assert_non_null(strstr(cm_json_get_z(root, "types"), "declare const pets"));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_case_gives_what_it_says),
        cmocka_unit_test(yaml_scalars_are_those_of_the_core_schema),
        cmocka_unit_test(hostile_yaml_is_refused_with_its_place),
        cmocka_unit_test(files_beside_a_description_are_read_and_no_others),
        cmocka_unit_test(a_description_of_many_megabytes_is_ready_in_well_under_a_second),
        cmocka_unit_test(a_file_is_described_without_a_service),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
