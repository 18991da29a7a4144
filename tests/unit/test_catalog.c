/** The catalog: search, describe, types. */
#include "catalog/catalog.h"
#include "catalog/internal.h"

#include "catalog_world.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
