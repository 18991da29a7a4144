#include "catalog/catalog.h"
#include "catalog/internal.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/names.h"
#include "schema/schema.h"

#include <stdio.h>
#include <unistd.h>

#include "unit.h"

#define MAX ((size_t)32 << 20)

/* ---- a connector made of a JSON document ---- */

struct fake {
    yyjson_doc *doc;
    struct cm_method *methods;
    struct cm_schema_ref *in, *out;
    size_t n;
    char **owned;
    const char *instructions;
    bool fails;
};

static void fake_start(void *self, cm_connector *c)
{
    struct fake *f = self;
    struct cm_err err = {.status = CM_E_UNAVAILABLE, .message = "broken: no such host"};

    if (f->fails)
        cm_connector__failed(c, &err);
    else
        cm_connector__ready(c);
}

static size_t fake_methods(void *self, const struct cm_method **out)
{
    struct fake *f = self;

    *out = f->methods;
    return f->n;
}

static void fake_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct fake *f = self;

    *input = f->in[i];
    *output = f->out[i];
}

static const char *fake_instructions(void *self)
{
    return ((struct fake *)self)->instructions;
}

static void fake_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    (void)self;
    (void)i;
    (void)args;
    cm_call__fail(call, NULL, CM_STR(""), "not here");
}

static void fake_free(void *self)
{
    struct fake *f = self;

    for (size_t i = 0; i < f->n * 2; i++)
        free(f->owned[i]);
    free(f->owned);
    free(f->methods);
    free(f->in);
    free(f->out);
    yyjson_doc_free(f->doc);
    free(f);
}

static const struct cm_connector_ops fake_ops = {.kind = "native",
                                                 .start = fake_start,
                                                 .methods = fake_methods,
                                                 .schemas = fake_schemas,
                                                 .instructions = fake_instructions,
                                                 .call = fake_call,
                                                 .free = fake_free};

static struct fake *fake_new(yyjson_doc *take_doc, size_t cap)
{
    struct fake *f = cm_new(struct fake);

    f->doc = take_doc;
    f->methods = cm_calloc(cap + 1, sizeof *f->methods);
    f->in = cm_calloc(cap + 1, sizeof *f->in);
    f->out = cm_calloc(cap + 1, sizeof *f->out);
    f->owned = cm_calloc(cap * 2 + 1, sizeof *f->owned);
    return f;
}

static void fake_add(struct fake *f, char *take_name, char *take_origin, const char *description,
                     unsigned flags, yyjson_val *in, yyjson_val *out)
{
    yyjson_val *root = yyjson_doc_get_root(f->doc);

    f->owned[f->n * 2] = take_name;
    f->owned[f->n * 2 + 1] = take_origin;
    f->methods[f->n] = (struct cm_method){.name = take_name,
                                          .origin = take_origin,
                                          .description = description ? description : "",
                                          .flags = flags};
    f->in[f->n] = (struct cm_schema_ref){root, in};
    f->out[f->n] = (struct cm_schema_ref){root, out};
    f->n++;
}

/* {"methods": {NAME: {description, approve, in, out, origin}}, "instructions"} */
static struct fake *fake_from_text(const char *text)
{
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;
    yyjson_val *key, *m;
    size_t i, max;

    if (cm_json_parse(cm_str_of(text), CM_JSON_STRICT, &doc, &err) != CM_OK)
        fail_msg("%s", err.message);
    yyjson_val *methods = cm_json_get(yyjson_doc_get_root(doc), "methods");
    struct fake *f = fake_new(doc, yyjson_obj_size(methods));
    f->instructions = cm_json_get_z(yyjson_doc_get_root(doc), "instructions");
    f->fails = cm_json_get(yyjson_doc_get_root(doc), "fails") != NULL;
    yyjson_obj_foreach(methods, i, max, key, m)
    {
        const char *origin = cm_json_get_z(m, "origin");
        fake_add(f, cm_strdup(yyjson_get_str(key)), cm_strdup(origin ? origin : yyjson_get_str(key)),
                 cm_json_get_z(m, "description"), cm_json_get(m, "approve") ? CM_METHOD_REQUIRES_APPROVAL : 0,
                 cm_json_get(m, "in"), cm_json_get(m, "out"));
    }
    return f;
}

struct world {
    cm_loop *loop;
    cm_connector *connectors[4];
    size_t n;
    cm_catalog *catalog;
    struct cm_buf out;
    yyjson_doc *doc; /* out, parsed */
};

static void count_ready(void *user, cm_connector *c)
{
    (void)c;
    ++*(size_t *)user;
}

static void add_connector(struct world *w, const char *name, struct fake *take_fake, bool start)
{
    size_t ready = 0;

    w->connectors[w->n] = cm_connector_new(w->loop, &fake_ops, take_fake, name, "a test", 1000, 1000, NULL);
    if (start) {
        cm_connector_ensure(w->connectors[w->n], count_ready, &ready);
        while (!ready)
            assert_true(cm_loop_once(w->loop) || ready);
    }
    w->n++;
}

static void open_catalog(struct world *w)
{
    w->out = CM_BUF_INIT(MAX);
    w->catalog = cm_catalog_new(w->connectors, w->n);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_catalog_free(w->catalog);
    for (size_t i = 0; i < w->n; i++)
        cm_connector_free(w->connectors[i]);
    cm_loop_free(w->loop);
    cm_buf_done(&w->out);
    yyjson_doc_free(w->doc);
    free(w);
    return 0;
}

static yyjson_val *parse_out(struct world *w)
{
    struct cm_err err = {0};

    yyjson_doc_free(w->doc);
    w->doc = NULL;
    if (cm_json_parse(cm_buf_str(&w->out), CM_JSON_STRICT, &w->doc, &err) != CM_OK)
        fail_msg("%s: %s", err.message, w->out.ptr);
    return yyjson_doc_get_root(w->doc);
}

static yyjson_val *search(struct world *w, const char *query, size_t limit)
{
    cm_buf_clear(&w->out);
    cm_catalog_search(w->catalog, cm_str_of(query), limit, &w->out);
    return parse_out(w);
}

static const char *path_of(yyjson_val *answer, size_t i)
{
    const char *path = cm_json_get_z(yyjson_arr_get(cm_json_get(answer, "results"), i), "path");

    return path ? path : "";
}

static yyjson_val *describe(struct world *w, const char *target)
{
    struct cm_err err = {0};

    cm_buf_clear(&w->out);
    if (cm_catalog_describe(w->catalog, cm_str_of(target), &w->out, &err) != CM_OK)
        fail_msg("%s: %s", target, err.message);
    return parse_out(w);
}

#define TRACKER                                                                                              \
    "{\"instructions\":\"Be kind.\",\"methods\":{"                                                           \
    "\"create_issue\":{\"description\":\"Create an issue.\\n\\nIn a "                                        \
    "project.\",\"approve\":true,\"in\":{\"type\":\"object\","                                               \
    "\"properties\":{\"title\":{\"type\":\"string\",\"description\":\"Short\"}},\"required\":[\"title\"]},"  \
    "\"out\":{\"$ref\":\"#/issue\"}},"                                                                       \
    "\"list_issues\":{\"description\":\"List the issues of a project\"},"                                    \
    "\"create_issue_comment\":{\"description\":\"Create an issue comment\"},"                                \
    "\"get_profile\":{\"description\":\"Fetch who you are\",\"origin\":\"get-profile\"},"                    \
    "\"delete_\":{\"description\":\"Delete anything\"}},"                                                    \
    "\"issue\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"parent\":{\"$ref\":\"#/" \
    "issue\"}}}}"
#define MAILER                                                       \
    "{\"methods\":{\"send\":{\"description\":\"Send an "             \
    "e-mail\"},\"get_profile\":{\"description\":\"Mailbox owner\"}," \
    "\"issue\":{\"out\":{\"$ref\":\"#/"                              \
    "issue\"}}},\"issue\":{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\"}}}}"

static void open_small(struct world *w)
{
    add_connector(w, "tracker", fake_from_text(TRACKER), true);
    add_connector(w, "mail", fake_from_text(MAILER), true);
    add_connector(w, "broken", fake_from_text("{\"fails\":true,\"methods\":{}}"), true);
    add_connector(w, "idle", fake_from_text("{\"methods\":{\"x\":{}}}"), false);
    open_catalog(w);
}

/* ---- words ---- */

static void words_are_cut_where_people_see_them_and_stemmed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *stems;
    } cases[] = {
        {"createIssue", "creat issu"},
        {"create-issues", "creat issu"},
        {"Creating ISSUES", "creat issu"},
        {"HTTPServer.getURL", "http server get url"},
        {"repositories", "repository"},
        {"boxes classes", "box clas"},
        {"getting added", "get ad"},
        {"add", "ad"},
        {"v2Api s3", "v2 api s3"},
        {"GET /pets/{id}", "get pet id"},
        {"日本 é", "日本 é"},
        {"status bus this", "status bus this"},
        {"", ""},
        {"--", ""},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        char words[8][CM_WORD_MAX_BYTES + 1];
        size_t n = cm_words_cut(cm_str_of(cases[i].text), words, 8);
        cm_autobuf joined = CM_BUF_INIT(1000);
        for (size_t k = 0; k < n; k++)
            cm_buf_addf(&joined, "%s%s", k ? " " : "", words[k]);
        assert_string_equal(cm_buf_str(&joined).ptr, cases[i].stems);
    }
}

/* ---- search ---- */

static void a_hit_carries_what_a_program_needs_to_call_it(void **state)
{
    struct world *w = *state;

    open_small(w);
    yyjson_val *answer = search(w, "create issue", 0);
    yyjson_val *hit = yyjson_arr_get(cm_json_get(answer, "results"), 0);
    assert_string_equal(cm_json_get_z(hit, "path"), "tracker.create_issue");
    assert_string_equal(cm_json_get_z(hit, "connector"), "tracker");
    assert_string_equal(cm_json_get_z(hit, "method"), "create_issue");
    assert_string_equal(cm_json_get_z(hit, "description"), "Create an issue. In a project.");
    assert_string_equal(cm_json_get_z(hit, "signature"),
                        "tracker.create_issue(input: { title: string }): Promise<Issue>");
    assert_string_equal(cm_json_get_z(hit, "kind"), "method");
    assert_true(yyjson_is_true(cm_json_get(hit, "requiresApproval")));
    assert_true(yyjson_get_int(cm_json_get(hit, "score")) > 0);
    assert_null(cm_json_get(yyjson_arr_get(cm_json_get(answer, "results"), 1), "requiresApproval"));
    assert_true(yyjson_is_false(cm_json_get(answer, "truncated")));
    yyjson_val *gone = cm_json_get(answer, "unavailable");
    assert_int_equal(yyjson_arr_size(gone), 2);
    assert_string_equal(cm_json_get_z(yyjson_arr_get(gone, 0), "connector"), "broken");
    assert_non_null(strstr(cm_json_get_z(yyjson_arr_get(gone, 0), "error"), "no such host"));
    assert_string_equal(cm_json_get_z(yyjson_arr_get(gone, 1), "error"), "it has not been started");
}

static void queries_find_what_people_mean(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *query, *first;
    } cases[] = {
        {"create issue", "tracker.create_issue"},
        {"createIssue", "tracker.create_issue"},
        {"creating issues", "tracker.create_issue"},
        {"make a new issue please", "tracker.create_issue"},
        {"issues", "tracker.list_issues"},
        {"tracker.list_issues", "tracker.list_issues"},
        {"comment", "tracker.create_issue_comment"},
        {"remove", "tracker.delete_"},
        {"who am i", "tracker.get_profile"},
        {"get-profile mail", "mail.get_profile"},
        {"email", "mail.send"},
        {"crate isue", "tracker.create_issue"},
    };

    open_small(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        const char *first = path_of(search(w, cases[i].query, 0), 0);
        if (strcmp(first, cases[i].first) != 0 && !(i == 4 && strstr(first, "issue")))
            fail_msg("'%s' found %s first, not %s: %s", cases[i].query, first, cases[i].first, w->out.ptr);
    }
}

static void an_empty_query_lists_everything_in_order(void **state)
{
    struct world *w = *state;

    open_small(w);
    yyjson_val *answer = search(w, "  ", 3);
    assert_int_equal(yyjson_arr_size(cm_json_get(answer, "results")), 3);
    assert_int_equal(yyjson_get_int(cm_json_get(answer, "total")), 8);
    assert_true(yyjson_is_true(cm_json_get(answer, "truncated")));
    assert_string_equal(path_of(answer, 0), "tracker.create_issue");
    assert_string_equal(path_of(answer, 2), "tracker.create_issue_comment");
}

static void no_hit_suggests_the_nearest_paths(void **state)
{
    struct world *w = *state;

    open_small(w);
    yyjson_val *answer = search(w, "tracker_lst_isues_zq", 0);
    if (yyjson_arr_size(cm_json_get(answer, "results")) == 0)
        assert_string_equal(yyjson_get_str(yyjson_arr_get(cm_json_get(answer, "suggestions"), 0)),
                            "tracker.list_issues");
    answer = search(w, "xqzw", 0);
    assert_int_equal(yyjson_get_int(cm_json_get(answer, "total")), 0);
    answer = search(w, "snd", 0);
    assert_string_equal(yyjson_get_str(yyjson_arr_get(cm_json_get(answer, "suggestions"), 0)), "mail.send");
}

static void a_connector_that_gets_ready_is_noticed(void **state)
{
    struct world *w = *state;
    size_t ready = 0;

    open_small(w);
    assert_int_equal(yyjson_get_int(cm_json_get(search(w, "", 0), "total")), 8);
    cm_connector_ensure(w->connectors[3], count_ready, &ready);
    while (!ready)
        assert_true(cm_loop_once(w->loop) || ready);
    assert_int_equal(yyjson_get_int(cm_json_get(search(w, "", 0), "total")), 9);
}

/* A server may list as many tools as before, in memory that is given back and used again. */
static void a_new_table_in_the_place_of_the_old_one_is_noticed(void **state)
{
    struct world *w = *state;

    open_small(w);
    assert_int_equal(yyjson_get_int(cm_json_get(search(w, "zeppelin", 0), "total")), 0);
    struct fake *f = cm_connector__self(w->connectors[0], &fake_ops);
    free(f->owned[0]);
    f->methods[0].name = f->owned[0] = cm_strdup("launch_zeppelin");
    cm_connector__ready(w->connectors[0]);
    assert_int_equal(yyjson_get_int(cm_json_get(search(w, "zeppelin", 0), "total")), 1);
}

/* ---- describe, types, bind ---- */

static void describing_a_method_gives_its_declaration_and_types(void **state)
{
    struct world *w = *state;

    open_small(w);
    yyjson_val *d = describe(w, "tracker.create_issue");
    assert_string_equal(cm_json_get_z(d, "path"), "tracker.create_issue");
    assert_string_equal(cm_json_get_z(d, "kind"), "method");
    assert_true(yyjson_is_true(cm_json_get(d, "requiresApproval")));
    assert_string_equal(cm_json_get_z(d, "types"),
                        "type Issue = {\n    id?: number;\n    parent?: Issue;\n};\n\n"
                        "declare const tracker: {\n    /**\n     * Create an issue. In a project.\n"
                        "     * Requires approval: the call waits until a person has approved it.\n"
                        "     * @param input.title - Short\n     */\n"
                        "    create_issue(input: {\n        /** Short */\n        title: string;\n    }): "
                        "Promise<Issue>;\n};\n");
}

static void a_target_may_be_written_as_a_call_or_by_the_upstreams_name(void **state)
{
    struct world *w = *state;
    static const char *const same[] = {"create_issue", " await tracker.create_issue({title: 'a.b'}); ",
                                       "tracker.create_issue()", "wrong.create_issue",
                                       "tracker.create_issue.more"};

    open_small(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(same); i++)
        assert_string_equal(cm_json_get_z(describe(w, same[i]), "path"), "tracker.create_issue");
    assert_string_equal(cm_json_get_z(describe(w, "tracker.get-profile"), "path"), "tracker.get_profile");
}

static void describing_a_connector_gives_all_of_it(void **state)
{
    struct world *w = *state;

    open_small(w);
    yyjson_val *d = describe(w, "tracker");
    assert_string_equal(cm_json_get_z(d, "kind"), "connector");
    assert_string_equal(cm_json_get_z(d, "description"), "Be kind.");
    assert_non_null(strstr(cm_json_get_z(d, "types"), "    delete_(input?: unknown): Promise<unknown>;"));
}

static void what_does_not_exist_is_answered_with_what_does(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *target, *part;
    } cases[] = {
        {"tracker.create_isue", "create_issue"},
        {"traker", "'traker' is no connector, no method and no snippet"},
        {"get_profile",
         "2 connectors have a method 'get_profile'; say which: tracker.get_profile or mail.get_profile"},
        {"creat_issue", "Did you mean tracker.create_issue"},
        {"broken.x", "connector 'broken' has no methods now"},
        {"idle", "it has not been started"},
        {"traker", "Did you mean tracker?"},
        {"jira", "'jira' is no connector, no method and no snippet. The connectors here are: tracker, mail, "
                 "broken, idle."},
        {"", "The connectors here are: tracker, mail, broken, idle."},
    };

    open_small(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        struct cm_err err = {0};
        cm_buf_clear(&w->out);
        assert_int_equal(cm_catalog_describe(w->catalog, cm_str_of(cases[i].target), &w->out, &err),
                         CM_E_NOT_FOUND);
        assert_int_equal(w->out.len, 0);
        if (!strstr(err.message, cases[i].part))
            fail_msg("'%s' is not in '%s'", cases[i].part, err.message);
    }
}

static void types_of_everything_share_no_name(void **state)
{
    struct world *w = *state;
    struct cm_err err = {0};

    open_small(w);
    assert_int_equal(cm_catalog_types(w->catalog, CM_STR(""), &w->out, &err), CM_OK);
    assert_non_null(strstr(w->out.ptr, "type Issue = {"));
    assert_non_null(strstr(w->out.ptr, "type Issue2 = {\n    key?: string;\n};"));
    assert_non_null(strstr(w->out.ptr, "/*\n * Be kind.\n */\n"));
    assert_non_null(strstr(w->out.ptr, "declare const mail: {"));
    cm_buf_clear(&w->out);
    assert_int_equal(cm_catalog_types(w->catalog, CM_STR("mail.send"), &w->out, &err), CM_OK);
    assert_string_equal(w->out.ptr, "declare const mail: {\n    /** Send an e-mail */\n    send(input?: "
                                    "unknown): Promise<unknown>;\n};\n");
}

static void bind_lists_the_methods_of_ready_connectors(void **state)
{
    struct world *w = *state;

    open_small(w);
    cm_catalog_bind(w->catalog, &w->out);
    assert_string_equal(
        w->out.ptr,
        "{\"connectors\":[{\"name\":\"tracker\",\"methods\":[\"create_issue\",\"list_issues\","
        "\"create_issue_comment\",\"get_profile\",\"delete_\"]},{\"name\":\"mail\",\"methods\":[\"send\","
        "\"get_profile\",\"issue\"]},{\"name\":\"broken\",\"methods\":null},"
        "{\"name\":\"idle\",\"methods\":null}]}");
}

/* ---- a large service ---- */

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
static void a_thousand_methods_are_searched_well_and_fast(void **state)
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
    assert_true(indexing < 500000 && slowest < 500000);
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
        cmocka_unit_test(words_are_cut_where_people_see_them_and_stemmed),
        WITH_WORLD(a_hit_carries_what_a_program_needs_to_call_it),
        WITH_WORLD(queries_find_what_people_mean),
        WITH_WORLD(an_empty_query_lists_everything_in_order),
        WITH_WORLD(no_hit_suggests_the_nearest_paths),
        WITH_WORLD(a_connector_that_gets_ready_is_noticed),
        WITH_WORLD(a_new_table_in_the_place_of_the_old_one_is_noticed),
        WITH_WORLD(describing_a_method_gives_its_declaration_and_types),
        WITH_WORLD(a_target_may_be_written_as_a_call_or_by_the_upstreams_name),
        WITH_WORLD(describing_a_connector_gives_all_of_it),
        WITH_WORLD(what_does_not_exist_is_answered_with_what_does),
        WITH_WORLD(types_of_everything_share_no_name),
        WITH_WORLD(bind_lists_the_methods_of_ready_connectors),
        WITH_WORLD(a_thousand_methods_are_searched_well_and_fast),
        WITH_WORLD(a_large_connector_is_described_by_signatures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
