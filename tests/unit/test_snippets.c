/**
 * Saved programs with the real worker: the programs of tests/cases/snippets (its README says how they are written), and what is done to
 * snippets from outside of programs.
 */
#include "base/fd.h"

#include "snippets_world.h"

/* ---- cases ---- */

static struct cm_str take_line(struct cm_str *rest)
{
    const char *nl = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t len = nl ? (size_t)(nl - rest->ptr) : rest->len;
    struct cm_str line = {rest->ptr, len};

    rest->ptr += len + (nl ? 1 : 0);
    rest->len -= len + (nl ? 1 : 0);
    return line;
}

/** The lines up to the next that begins with one of the marks, without the last line break. */
static struct cm_str take_block(struct cm_str *rest)
{
    struct cm_str block = {rest->ptr, 0};

    while (rest->len && !cm_str_has_prefix(*rest, CM_STR("@@ ")) &&
           !cm_str_has_prefix(*rest, CM_STR("=== ")) && !cm_str_has_prefix(*rest, CM_STR("--- "))) {
        struct cm_str line = take_line(rest);
        block.len = (size_t)(line.ptr + line.len - block.ptr);
    }
    return block;
}

static bool cut_prefix(struct cm_str *line, const char *prefix)
{
    size_t n = strlen(prefix);

    if (line->len < n || memcmp(line->ptr, prefix, n) != 0)
        return false;
    *line = cm_str_mk(line->ptr + n, line->len - n);
    return true;
}

static void take_snippet(struct world *w, struct cm_str head, struct cm_str *rest)
{
    const char *space = memchr(head.ptr, ' ', head.len);
    size_t len = space ? (size_t)(space - head.ptr) : head.len;
    cm_autofree char *name = cm_memdup_z(head.ptr, len);
    struct cm_str schema = space ? cm_str_mk(space + 1, head.len - len - 1) : CM_STR("");
    cm_autobuf needs = CM_BUF_INIT(TEXT_MAX);
    struct cm_str line = *rest;

    cm_buf_add_char(&needs, '[');
    if (cut_prefix(&line, "@@ needs ")) {
        line = take_line(rest);
        (void)cut_prefix(&line, "@@ needs ");
        cm_buf_add_char(&needs, '"');
        for (size_t i = 0; i < line.len; i++) {
            if (line.ptr[i] == ',')
                cm_buf_add_z(&needs, "\",\"");
            else if (line.ptr[i] != ' ')
                cm_buf_add_char(&needs, line.ptr[i]);
        }
        cm_buf_add_char(&needs, '"');
    }
    cm_buf_add_char(&needs, ']');
    put(w, name, take_block(rest), schema, cm_buf_str(&needs).ptr);
}

static bool write_call(void *user, const struct cm_call_row *row)
{
    struct cm_buf *out = user;
    const char *front = row->kind == CM_CALL_STEP ? "step:" : row->kind == CM_CALL_RUN ? "run:" : "";

    if (row->kind != CM_CALL_TOOL && !front[0])
        return true;
    cm_buf_addf(out, "%s%u<%lld:%s%s=%s", out->len ? " " : "", row->seq, (long long)row->parent_seq, front,
                row->method, cm_call_state_text(row->state));
    assert_true((row->kind == CM_CALL_RUN && row->state == CM_CALL_APPLIED) <= (row->code.ptr != NULL));
    return true;
}

struct verdict {
    const char *title;
    size_t title_len;
    bool ok;
};

static void differs(struct verdict *v, const char *what, struct cm_str want, const char *got)
{
    v->ok = false;
    print_message("# %.*s: %s\n#   expected %.*s\n#   got      %s\n", (int)v->title_len, v->title, what,
                  CM_STR_ARG(want), got ? got : "nothing");
}

static void expect(struct world *w, struct cm_str line, yyjson_val *root, size_t *n_logs, struct verdict *v)
{
    yyjson_val *error = cm_json_get(root, "error");
    cm_autobuf got = CM_BUF_INIT(TEXT_MAX);

    if (cut_prefix(&line, "result")) {
        (void)cut_prefix(&line, " ");
        if (cm_json_get(root, "result"))
            cm_json_write(&got, cm_json_get(root, "result"));
        if (w->state != CM_EXEC_COMPLETED || !cm_str_eq(cm_buf_str(&got), line))
            differs(v, "the result", line, w->outcome);
    } else if (cut_prefix(&line, "failed ")) {
        struct cm_str message = cm_json_str(cm_json_get(error, "message"));
        if (!message.len || !memmem(message.ptr, message.len, line.ptr, line.len))
            differs(v, "the message", line, w->outcome);
    } else if (cut_prefix(&line, "code ")) {
        if (!cm_str_eq(cm_json_str(cm_json_get(error, "code")), line))
            differs(v, "the code", line, w->outcome);
    } else if (cut_prefix(&line, "warning ")) {
        cm_json_write(&got, cm_json_get(root, "warnings"));
        if (!memmem(got.ptr, got.len, line.ptr, line.len))
            differs(v, "the warnings", line, w->outcome);
    } else if (cut_prefix(&line, "log ")) {
        if (!cm_str_eq(cm_json_str(yyjson_arr_get(cm_json_get(root, "logs"), (*n_logs)++)), line))
            differs(v, "a console line", line, w->outcome);
    } else if (cut_prefix(&line, "calls")) {
        struct cm_err err = {0};
        (void)cut_prefix(&line, " ");
        assert_int_equal(cm_store_calls(w->store, w->id, write_call, &got, &err), CM_OK);
        if (!cm_str_eq(cm_buf_str(&got), line))
            differs(v, "the calls", line, cm_buf_str(&got).ptr);
    } else {
        fail_msg("'%.*s' is no expectation", CM_STR_ARG(line));
    }
}

static bool run_case(struct world *w, struct cm_str title, struct cm_str *rest)
{
    struct cm_str code = take_block(rest);
    struct verdict v = {title.ptr, title.len, true};
    cm_auto(yyjson_doc) doc = NULL;
    size_t n_logs = 0, n = 0;

    run(w, code);
    assert_int_equal(cm_json_parse(cm_str_of(w->outcome), CM_JSON_BIGNUM, &doc, NULL), CM_OK);
    for (struct cm_str line = *rest; cut_prefix(&line, "--- "); line = *rest, n++) {
        line = take_line(rest);
        (void)cut_prefix(&line, "--- ");
        expect(w, line, yyjson_doc_get_root(doc), &n_logs, &v);
    }
    assert_true(n > 0);
    if (n_logs > 0 && yyjson_arr_size(cm_json_get(yyjson_doc_get_root(doc), "logs")) != n_logs)
        differs(&v, "the console", CM_STR("no more lines"), w->outcome);
    return v.ok;
}

static size_t run_file(struct world *w, const char *path, size_t *n)
{
    cm_autofree char *text = NULL;
    struct cm_str rest = {NULL, 0};
    size_t failed = 0;
    struct cm_err err = {0};

    if (cm_read_file(path, TEXT_MAX, &text, &rest.len, &err) != CM_OK)
        fail_msg("%s", err.message);
    rest.ptr = text;
    while (rest.len) {
        struct cm_str line = take_line(&rest);

        if (cut_prefix(&line, "@@ snippet ")) {
            take_snippet(w, line, &rest);
        } else if (cut_prefix(&line, "=== ")) {
            failed += !run_case(w, line, &rest);
            ++*n;
        } else {
            fail_msg("%s: '%.*s' begins nothing", path, CM_STR_ARG(line));
        }
    }
    return failed;
}

static void every_program_ends_as_written(void **state)
{
    static const char *const files[] = {"run", "fails", "hostile"};
    struct world *w = *state;
    const char *root = getenv("CM_SOURCE_ROOT");
    size_t n = 0, failed = 0;

    for (size_t i = 0; i < CM_ARRAY_LEN(files); i++) {
        cm_autofree char *path = cm_asprintf("%s/tests/cases/snippets/%s.txt", root ? root : ".", files[i]);
        failed += run_file(w, path, &n);
    }
    print_message("# %zu programs\n", n);
    assert_true(n >= 60);
    assert_int_equal(w->wiped, 0);
    assert_int_equal(failed, 0);
}

/* ---- from outside ---- */

static void save(struct world *w, const struct cm_snippet_spec *spec)
{
    struct cm_err err = {0};

    if (cm_runtime_snippet_save(w->rt, spec, &err) != CM_OK)
        fail_msg("%s", err.message);
}

#define HAS(text, part)                          \
    do {                                         \
        if (!strstr(text, part))                 \
            fail_msg("no %s in %s", part, text); \
    } while (0)

static void a_program_is_saved_with_what_it_called(void **state)
{
    struct world *w = *state;
    cm_autobuf list = CM_BUF_INIT(TEXT_MAX), one = CM_BUF_INIT(TEXT_MAX);
    struct cm_err err = {0};

    run(w,
        CM_STR("async (input) => { await t.echo({}); try { await nothere.x({}); } catch {} return input; }"));
    const struct cm_snippet_spec spec = {.name = "called",
                                         .execution = w->id,
                                         .description = "Echo \"twice\"",
                                         .input_schema = CM_STR("{ \"type\": \"string\" }")};
    save(w, &spec);
    assert_int_equal(cm_runtime_snippets(w->rt, &list, &err), CM_OK);
    HAS(cm_buf_str(&list).ptr,
        "{\"snippets\":[{\"name\":\"called\",\"description\":\"Echo \\\"twice\\\"\","
        "\"connectors\":[\"t\"],\"inputSchema\":{\"type\":\"string\"},\"executionId\":\"");
    assert_null(strstr(cm_buf_str(&list).ptr, "async"));
    assert_int_equal(cm_runtime_snippet(w->rt, "called", &one, &err), CM_OK);
    HAS(cm_buf_str(&one).ptr, ",\"code\":\"async (input) => { await t.echo({});");
    run(w, CM_STR("return await codemode.run('called', 'x')"));
    HAS(w->outcome, "\"result\":\"x\"");
    assert_int_equal(cm_runtime_snippet_delete(w->rt, "called", &err), CM_OK);
    assert_int_equal(cm_runtime_snippet_delete(w->rt, "called", &err), CM_E_NOT_FOUND);
    HAS(err.message, "There is no snippet \"called\": none has been saved.");
}

static void what_cannot_be_saved_is_said(void **state)
{
    struct world *w = *state;
    cm_autofree char *deep = cm_malloc(100001), *long_text = cm_malloc(2002);
    static const struct {
        const char *name, *execution, *schema, *part;
    } wrong[] = {
        {"", NULL, "", "expected 1 to 64 letters, digits"},
        {"a.b", NULL, "", "snippet name 'a.b': expected 1 to 64 letters"},
        {"-a", NULL, "", "not '-' first"},
        {"caf\303\251", NULL, "", "expected 1 to 64 letters"},
        {"t", NULL, "", "a connector has this name"},
        {"codemode", NULL, "", "a connector has this name"},
        {"ok", "exec_none", "",
         "there is no execution 'exec_none' in runtime 'default'; `codemode executions`"},
        {"ok", NULL, "[1]", "the input schema is an array; expected a JSON Schema object"},
        {"ok", NULL, "{", "the input schema"},
    };
    struct cm_err err = {0};
    struct cm_snippet_spec spec = {.name = "ok"};

    run(w, CM_STR("return 1"));
    for (size_t i = 0; i < CM_ARRAY_LEN(wrong); i++) {
        spec = (struct cm_snippet_spec){.name = wrong[i].name,
                                        .execution = wrong[i].execution ? wrong[i].execution : w->id,
                                        .input_schema = cm_str_of(wrong[i].schema)};
        assert_int_not_equal(cm_runtime_snippet_save(w->rt, &spec, &err), CM_OK);
        HAS(err.message, wrong[i].part);
    }
    memset(deep, ' ', 100000);
    deep[100000] = '\0';
    spec = (struct cm_snippet_spec){.name = "ok", .execution = w->id, .input_schema = cm_str_of(deep)};
    assert_int_equal(cm_runtime_snippet_save(w->rt, &spec, &err), CM_E_LIMIT);
    memset(long_text, 'd', 2001);
    long_text[2001] = '\0';
    spec = (struct cm_snippet_spec){.name = "ok", .execution = w->id, .description = long_text};
    assert_int_equal(cm_runtime_snippet_save(w->rt, &spec, &err), CM_E_LIMIT);
    spec = (struct cm_snippet_spec){.name = "ok", .execution = w->id, .description = "\xff"};
    assert_int_equal(cm_runtime_snippet_save(w->rt, &spec, &err), CM_E_INVALID);
}

static bool other_row(void *user, const struct cm_exec_row *row)
{
    (void)snprintf(user, 80, "%s", row->id);
    return false;
}

static void an_execution_of_another_runtime_is_none(void **state)
{
    struct world *w = *state;
    const struct cm_exec_row row = {.id = "exec_other",
                                    .runtime = "other",
                                    .code = CM_STR("return 'their secret'"),
                                    .connectors_json = "[]",
                                    .created_at = 1,
                                    .passes = 1};
    const struct cm_snippet_spec spec = {.name = "theirs", .execution = "exec_other"};
    struct cm_err err = {0};
    char id[80];

    assert_int_equal(cm_store_begin(w->store, &row, &err), CM_OK);
    assert_int_equal(cm_store_execution(w->store, "exec_other", other_row, id, &err), CM_OK);
    assert_int_equal(cm_runtime_snippet_save(w->rt, &spec, &err), CM_E_NOT_FOUND);
    HAS(err.message, "in runtime 'default'");
}

static void search_and_describe_know_snippets(void **state)
{
    struct world *w = *state;
    const struct cm_snippet_row row = {
        .runtime = "default",
        .name = "weekly_report",
        .description = "Sum up what was sold in a week",
        .code = CM_STR("return input.days;"),
        .input_schema =
            CM_STR("{\"type\":\"object\",\"properties\":{\"days\":{\"type\":\"integer\",\"description\":"
                   "\"How many\"}},\"required\":[\"days\"]}"),
        .connectors_json = "[]",
        .execution = "exec_x",
        .saved_at = 1};
    struct cm_err err = {0};

    run(w, CM_STR("return await codemode.search('weekly report')"));
    HAS(w->outcome, "\"result\":{\"results\":[]");
    assert_int_equal(cm_store_snippet_save(w->store, &row, &err), CM_OK);
    run(w, CM_STR("return (await codemode.search('sold week')).results.map(r => [r.kind, r.path, "
                  "r.connector, r.method, "
                  "r.signature])"));
    HAS(w->outcome, "\"result\":[[\"snippet\",\"weekly_report\",\"snippet\",\"weekly_report\","
                    "\"codemode.run(\\\"weekly_report\\\", input: { days: number }): Promise<unknown>\"]]");
    run(w, CM_STR("const r = await codemode.search('report echo');\n"
                  "return r.results.map(r => r.kind).sort();"));
    HAS(w->outcome, "\"result\":[\"method\",\"snippet\"]");
    run(w, CM_STR("const d = await codemode.describe('weekly_report'); return [d.kind, d.path, "
                  "d.description, d.types]"));
    HAS(w->outcome, "[\"snippet\",\"weekly_report\",\"Sum up what was sold in a week\",\"codemode.run("
                    "\\\"weekly_report\\\", input: { days: number }): Promise<unknown>;\\n\\ntype Input = {");
    HAS(w->outcome, "\\n\\n// The program:\\nreturn input.days;\\n\"");
    run(w, CM_STR("return (await codemode.describe('snippet.weekly_report')).kind"));
    HAS(w->outcome, "\"result\":\"snippet\"");
    run(w, CM_STR("return (await codemode.describe('weekly_reprot')).types"));
    HAS(w->outcome, "Did you mean weekly_report?");
    assert_int_equal(cm_store_snippet_delete(w->store, "default", "weekly_report", &err), CM_OK);
    run(w, CM_STR("return (await codemode.search('sold week')).total"));
    HAS(w->outcome, "\"result\":0");
}

static void a_connector_wins_over_a_snippet_of_its_name(void **state)
{
    struct world *w = *state;

    put(w, "t", CM_STR("return 1"), CM_STR(""), "[]");
    put(w, "echo", CM_STR("return 'of the snippet'"), CM_STR(""), "[]");
    run(w, CM_STR("return [(await codemode.describe('t')).kind, (await codemode.describe('echo')).kind, "
                  "(await codemode.describe('t.echo')).kind]"));
    HAS(w->outcome, "\"result\":[\"connector\",\"snippet\",\"method\"]");
}

static void a_snippet_can_be_run_as_a_program(void **state)
{
    struct world *w = *state;
    struct cm_err err = {0};
    cm_autofree char *code = NULL;
    size_t len = 0;
    const struct cm_value seven = {CM_STR("7"), CM_STR("")}, text = {CM_STR("\"7\""), CM_STR("")};

    put(w, "n", CM_STR("return input"), CM_STR("{\"type\":\"integer\"}"), "[]");
    put(w, "gone", CM_STR("return 1"), CM_STR(""), "[\"crm\"]");
    assert_int_equal(cm_runtime_snippet_program(w->rt, "n", seven, &code, &len, &err), CM_OK);
    assert_string_equal(code, "return input");
    assert_int_equal(len, strlen(code));
    free(cm_steal(&code));
    assert_int_equal(cm_runtime_snippet_program(w->rt, "n", text, &code, &len, &err), CM_E_INVALID);
    HAS(err.message, "The input of snippet \"n\": ");
    assert_int_equal(cm_runtime_snippet_program(w->rt, "gone", seven, &code, &len, &err), CM_E_UNAVAILABLE);
    HAS(err.message, "Snippet \"gone\" calls crm, which is not configured here. Connectors here: t.");
    assert_int_equal(cm_runtime_snippet_program(w->rt, "m", seven, &code, &len, &err), CM_E_NOT_FOUND);
    HAS(err.message, "Did you mean \"n\"?");
    assert_null(code);
}

static void an_approval_inside_pauses_the_whole_run(void **state)
{
    struct world *w = *state;

    put(w, "wipes", CM_STR("await t.echo({ n: 1 }); return await t.wipe({ disk: input });"), CM_STR(""),
        "[\"t\"]");
    run(w, CM_STR("return await codemode.run('wipes', 3)"));
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    HAS(w->outcome, "\"method\":\"run:wipes\",\"args\":[\"wipes\",3],\"state\":\"executing\"");
    HAS(w->outcome, "\"method\":\"wipe\",\"args\":{\"disk\":3},\"state\":\"pending\"");
    assert_int_equal(w->wiped, 0);
}

/* ---- going on ---- */

/** Approve one call, and run on to the next pause or the end: in place, or from the record where nothing was kept. */
static void approve(struct world *w, uint32_t seq)
{
    const struct cm_decide d = {.id = w->id, .seqs = &seq, .n_seqs = 1, .by = "a test"};
    struct cm_err err = {0};
    cm_exec *e = NULL;

    w->ended = false;
    if (cm_runtime_approve(w->rt, &d, on_outcome, w, &e, &err) != CM_OK)
        fail_msg("%s", err.message);
    while (!w->ended)
        assert_true(cm_loop_once(w->loop) || w->ended);
}

static char *calls_of(struct world *w)
{
    cm_autobuf got = CM_BUF_INIT(TEXT_MAX);
    struct cm_err err = {0};

    assert_int_equal(cm_store_calls(w->store, w->id, write_call, &got, &err), CM_OK);
    return cm_buf_take(&got, NULL);
}

static void a_run_goes_on_with_the_text_that_it_began_with(void **state)
{
    struct world *w = *state;
    cm_autofree char *calls = NULL;
    struct cm_err err = {0};

    put(w, "first", CM_STR("console.log('first'); return (await t.echo({ r: Math.random() })).r"), CM_STR(""),
        "[]");
    put(w, "wipes",
        CM_STR("console.log('before', input); const r = Math.random(); const got = await t.echo({ r }); "
               "const v = "
               "await t.wipe({ disk: input }); console.log('after'); return [v.disk, got.r === r];"),
        CM_STR(""), "[\"t\"]");
    run(w, CM_STR("const a = await codemode.run('first'); const b = await codemode.run('wipes', 'c');\n"
                  "return [typeof a, b, await codemode.run('last')]"));
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    put(w, "wipes", CM_STR("return 'another text'"), CM_STR("{\"type\":\"integer\"}"), "[\"crm\"]");
    assert_int_equal(cm_store_snippet_delete(w->store, "default", "first", &err), CM_OK);
    put(w, "last", CM_STR("return 'last'"), CM_STR(""), "[]");
    approve(w, 4);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    assert_int_equal(w->wiped, 1);
    HAS(w->outcome,
        "\"result\":[\"number\",[\"c\",true],\"last\"],\"logs\":[\"first\",\"before c\",\"after\"]");
    calls = calls_of(w);
    assert_string_equal(calls,
                        "0<-1:run:first=applied 1<0:echo=applied 2<-1:run:wipes=applied 3<2:echo=applied "
                        "4<2:wipe=applied 5<-1:run:last=applied");
}

static void snippets_inside_of_each_other_go_on(void **state)
{
    struct world *w = *state;
    cm_autofree char *calls = NULL;

    put(w, "inner", CM_STR("await t.wipe({ n: input }); return input * 2"), CM_STR(""), "[]");
    put(w, "outer",
        CM_STR("const a = await t.echo({ n: 1 });\n"
               "return await Promise.all([1, 2].map(n => codemode.run('inner', n + a.n)))"),
        CM_STR(""), "[]");
    run(w, CM_STR("return await codemode.step('s', () => codemode.run('outer'))"));
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    approve(w, 5);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    assert_int_equal(w->wiped, 1);
    approve(w, 6);
    HAS(w->outcome, "\"result\":[4,6]");
    assert_int_equal(w->wiped, 2);
    calls = calls_of(w);
    assert_string_equal(calls,
                        "0<-1:step:s=applied 1<0:run:outer=applied 2<1:echo=applied 3<1:run:inner=applied "
                        "4<1:run:inner=applied 5<3:wipe=applied 6<4:wipe=applied");
}

static void what_a_run_was_refused_stays_refused(void **state)
{
    struct world *w = *state;

    run(w, CM_STR("let said; try { await codemode.run('late'); } catch (e) { said = e.code; }\n"
                  "await t.wipe({}); return [said, await codemode.run('late')]"));
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    put(w, "late", CM_STR("return 'here now'"), CM_STR(""), "[]");
    approve(w, 1);
    HAS(w->outcome, "\"result\":[\"unknown_snippet\",\"here now\"]");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define KEPT(name)                                            \
    {                                                         \
#name "_in_place", name, set_up_kept, tear_down, NULL \
    }
    const struct CMUnitTest tests[] = {
        T(every_program_ends_as_written),
        T(a_program_is_saved_with_what_it_called),
        T(what_cannot_be_saved_is_said),
        T(an_execution_of_another_runtime_is_none),
        T(search_and_describe_know_snippets),
        T(a_connector_wins_over_a_snippet_of_its_name),
        T(a_snippet_can_be_run_as_a_program),
        T(an_approval_inside_pauses_the_whole_run),
        T(a_run_goes_on_with_the_text_that_it_began_with),
        T(snippets_inside_of_each_other_go_on),
        T(what_a_run_was_refused_stays_refused),
        KEPT(a_run_goes_on_with_the_text_that_it_began_with),
        KEPT(snippets_inside_of_each_other_go_on),
        KEPT(what_a_run_was_refused_stays_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
