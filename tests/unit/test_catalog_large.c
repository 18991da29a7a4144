/** The catalog over a service with a thousand methods: GitHub's. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/names.h"
#include "catalog/internal.h"

#include <unistd.h>

#include "catalog_world.h"

static const char *source_root(void)
{
    const char *root = getenv("CM_SOURCE_ROOT");

    return root ? root : ".";
}

static yyjson_val *body_schema(yyjson_val *op)
{
    return cm_json_get(
        cm_json_get(cm_json_get(cm_json_get(op, "requestBody"), "content"), "application/json"), "schema");
}

static yyjson_val *result_schema(yyjson_val *op)
{
    yyjson_val *responses = cm_json_get(op, "responses"), *key, *val;
    size_t i, max;

    yyjson_obj_foreach(responses, i, max, key, val)
    {
        if (yyjson_get_str(key)[0] == '2')
            return cm_json_get(cm_json_get(cm_json_get(val, "content"), "application/json"), "schema");
    }
    return NULL;
}

/* GitHub's description as a connector, more simply than the OpenAPI connector makes one; skipped where it is
 * not installed. */
static struct fake *fake_github(void)
{
    cm_autofree char *path =
        cm_asprintf("%s/node_modules/@octokit/openapi/generated/api.github.com.json", source_root());
    cm_autofree char *text = NULL;
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;
    yyjson_val *key, *item, *verb, *op;
    size_t len = 0, i, max, k, kmax;

    if (cm_read_file(path, 64u << 20, &text, &len, &err) != CM_OK) {
        print_message("%s (npm install brings it)\n", err.message);
        return NULL;
    }
    assert_int_equal(cm_json_parse(cm_str_mk(text, len), CM_JSON_STRICT, &doc, &err), CM_OK);
    yyjson_val *paths = cm_json_get(yyjson_doc_get_root(doc), "paths");
    struct fake *f = fake_new(doc, yyjson_obj_size(paths) * 6);
    yyjson_obj_foreach(paths, i, max, key, item)
    {
        yyjson_obj_foreach(item, k, kmax, verb, op)
        {
            const char *id = cm_json_get_z(op, "operationId");
            if (id)
                fake_add(f, cm_name_to_identifier(cm_str_of(id)),
                         cm_asprintf("%s %s", yyjson_get_str(verb), yyjson_get_str(key)),
                         cm_json_get_z(op, "summary"), 0, body_schema(op), result_schema(op));
        }
    }
    return f;
}

static size_t rank_of(yyjson_val *answer, const char *path)
{
    yyjson_val *hit;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(answer, "results"), i, max, hit)
    {
        const char *here = cm_json_get_z(hit, "path");
        if (here && strcmp(here, path) == 0)
            return i + 1;
    }
    return SIZE_MAX;
}

/* Lines of "query<TAB>path": the path must be among the first three. */
static void a_thousand_methods_are_searched_well(void **state)
{
    struct world *w = *state;
    cm_autofree char *file = cm_asprintf("%s/tests/cases/catalog/github.tsv", source_root());
    cm_autofree char *text = NULL;
    struct cm_err err = {0};
    size_t wrong = 0, n = 0;
    int64_t slowest = 0, all = 0;

    struct fake *github = fake_github();
    if (!github)
        skip();
    add_connector(w, "github", github, true);
    open_catalog(w);
    assert_int_equal(cm_read_file(file, 1u << 20, &text, NULL, &err), CM_OK);
    int64_t start = cm_mono_us();
    cm_catalog__refresh(w->catalog);
    int64_t indexing = cm_mono_us() - start;
    for (char *line = text, *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n'), n++) {
        char *path = strchr(line, '\t');
        assert_non_null(path);
        *path++ = '\0';
        *end = '\0';
        start = cm_mono_us();
        cm_buf_clear(&w->out);
        cm_catalog_search(w->catalog, cm_str_of(line), 10, &w->out);
        int64_t took = cm_mono_us() - start;
        slowest = took > slowest ? took : slowest;
        all += took;
        yyjson_val *answer = parse_out(w);
        if (rank_of(answer, path) > 3) {
            wrong++;
            print_error("'%s': %s is at %zd behind %s, %s, %s\n", line, path, (ssize_t)rank_of(answer, path),
                        path_of(answer, 0), path_of(answer, 1), path_of(answer, 2));
        }
    }
    print_message(
        "%zu methods: index %lld us, search %lld us on average, %lld at most, %zu of %zu queries missed\n",
        w->catalog->n_entries, (long long)indexing, (long long)all / (long long)n, (long long)slowest, wrong,
        n);
    assert_int_equal(wrong, 0);
    assert_true(w->catalog->n_entries > 900);
}

static void a_large_connector_is_described_by_signatures(void **state)
{
    struct world *w = *state;

    struct fake *github = fake_github();
    if (!github)
        skip();
    add_connector(w, "github", github, true);
    open_catalog(w);
    yyjson_val *d = describe(w, "github");
    size_t len = yyjson_get_len(cm_json_get(d, "types"));
    assert_true(len > 10000 && len < 60000);
    d = describe(w, "github.issues_create");
    len = yyjson_get_len(cm_json_get(d, "types"));
    print_message("issues_create is described in %zu bytes\n", len);
    assert_true(len < 80000);
}

int main(void)
{
#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_thousand_methods_are_searched_well),
        WITH_WORLD(a_large_connector_is_described_by_signatures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
