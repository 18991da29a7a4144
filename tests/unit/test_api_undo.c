/** <codemode.h>: undoing, hearing of what happens, and saying what is told, as an embedder does. */
#include <codemode.h>

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char undone[512], events[4096], hooks[512], ids[2][64];

static void append(char *to, size_t size, const char *text)
{
    (void)snprintf(to + strlen(to), size - strlen(to), "%s\n", text);
}

static void make(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    (void)user;
    (void)snprintf(ids[0], sizeof ids[0], "%s", cm_tool_call_execution(call));
    cm_tool_return(call, args_json, args_len);
}

static void unmake(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    (void)user, (void)args_len;
    (void)snprintf(ids[1], sizeof ids[1], "%s", cm_tool_call_execution(call));
    append(undone, sizeof undone, args_json);
    cm_tool_return(call, "true", 4);
}

static void take_off(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    (void)user, (void)args_len;
    append(undone, sizeof undone, args_json);
    cm_tool_fail(call, "it is nailed down");
}

static void on_event(void *user, const char *event_json, size_t len)
{
    static const char front[] = "{\"event\":\"";
    char name[32];

    (void)user;
    assert_int_equal(strlen(event_json), len);
    assert_memory_equal(event_json, front, sizeof front - 1);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(event_json + sizeof front - 1, "\""),
                   event_json + sizeof front - 1);
    append(events, sizeof events, name);
}

static void on_pass_end(void *user, const char *execution_id, const char *status)
{
    (void)user, (void)execution_id;
    append(hooks, sizeof hooks, status);
}

static void on_dispose(void *user, const char *execution_id, const char *status)
{
    char text[64];

    (void)user, (void)execution_id;
    (void)snprintf(text, sizeof text, "dispose %s", status);
    append(hooks, sizeof hooks, text);
}

static void on_result(void *user, cm_result *r, const char *execution_id, const char *json, size_t len)
{
    (void)len;
    assert_memory_equal(execution_id, "exec_", 5);
    if (strcmp(json, "\"keep\"") == 0)
        cm_result_keep(r, "it is short enough");
    else if (user)
        cm_result_tell(r, "{\"shortened\":true}", 18);
}

static cm_ctx *open_tools(void)
{
    static const char config[] = "{\"codemode\":{\"reverts\":{\"shelf.put\":{\"call\":\"shelf.take_off\","
                                 "\"args\":{\"id\":\"$args.id\"}}}}}";
    const struct cm_options options = {.config_json = config, .store = "memory:"};
    const struct cm_tool tools[] = {
        {.connector = "shelf", .name = "make", .fn = make, .revert = unmake},
        {.connector = "shelf", .name = "put", .fn = make},
        {.connector = "shelf", .name = "take_off", .fn = take_off},
    };
    const struct cm_hooks h = {on_pass_end, on_dispose, NULL};
    struct cm_err err;
    cm_ctx *ctx = NULL;

    undone[0] = events[0] = hooks[0] = '\0';
    if (cm_open(&options, &ctx, &err) != CM_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        assert_int_equal(cm_add_tool(ctx, &tools[i], &err), CM_OK);
    assert_int_equal(cm_set_hooks(ctx, "shelf", &h, &err), CM_OK);
    assert_int_equal(cm_set_hooks(ctx, "nowhere", &h, &err), CM_E_NOT_FOUND);
    return ctx;
}

static cm_outcome *run(cm_ctx *ctx, const char *code)
{
    const struct cm_run_options options = {.code = code};
    struct cm_err err;
    cm_outcome *o = NULL;

    if (cm_run(ctx, &options, &o, &err) != CM_OK)
        fail_msg("%s", err.message);
    return o;
}

#define SAYS(json, text)                         \
    do {                                         \
        if (!strstr(json, text))                 \
            fail_msg("no %s in %s", text, json); \
    } while (0)

static void what_a_program_did_is_undone(void **state)
{
    cm_ctx *ctx = open_tools();
    cm_outcome *o =
        run(ctx, "await shelf.make({n: 1}); await shelf.put({id: 2}); return await shelf.make({n: 3})");
    const struct cm_rollback_options all = {.id = cm_outcome_execution_id(o), .by = "ann"};
    const struct cm_rollback_options wrong = {.id = all.id, .unknown = (enum cm_rollback_unknown)7};
    struct cm_err err;
    char *json = NULL;

    (void)state;
    if (cm_rollback(ctx, &all, &json, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_string_equal(undone, "{\"args\":{\"n\":3},\"result\":{\"n\":3}}\n{\"id\":2}\n"
                                "{\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS(json, "\"status\":\"completed\",\"reverted\":[{\"seq\":2,");
    SAYS(json,
         "\"failed\":[{\"seq\":1,\"connector\":\"shelf\",\"method\":\"put\",\"error\":\"it is nailed down\"");
    assert_string_equal(ids[0], all.id);
    assert_string_equal(ids[1], all.id);
    cm_text_free(json);
    assert_int_equal(cm_rollback(ctx, &wrong, &json, &err), CM_E_INVALID);
    assert_int_equal(cm_rollback(ctx, &(struct cm_rollback_options){.id = "exec_0"}, &json, &err),
                     CM_E_NOT_FOUND);
    assert_int_equal(cm_rollback(ctx, &(struct cm_rollback_options){0}, &json, &err), CM_E_INVALID);
    cm_outcome_free(o);
    cm_close(ctx);
}

static void an_embedder_hears_what_happens_and_keeps_what_it_needs(void **state)
{
    cm_ctx *ctx = open_tools();

    (void)state;
    cm_on_event(ctx, on_event, NULL);
    cm_outcome_free(run(ctx, "console.log('hi'); await shelf.make({n: 1})"));
    cm_outcome_free(run(ctx, "await shelf.make({n: 1})"));
    cm_close(ctx); /* the end may be told as late as here */
    assert_string_equal(events, "started\nlog\ndecided\noutcome\nended\nstarted\ndecided\noutcome\nended\n");
    assert_string_equal(hooks, "completed\ndispose completed\ncompleted\ndispose completed\n");
}

static void an_embedder_says_what_is_told_of_a_result(void **state)
{
    cm_ctx *ctx = open_tools();
    struct cm_err err;
    char *json = NULL;
    cm_outcome *o;

    (void)state;
    cm_on_result(ctx, on_result, &err);
    o = run(ctx, "return [1, 2, 3]");
    assert_string_equal(cm_outcome_result_json(o, NULL), "{\"shortened\":true}");
    assert_int_equal(cm_execution(ctx, cm_outcome_execution_id(o), &json, &err), CM_OK);
    SAYS(json, "\"result\":[1,2,3]");
    cm_text_free(json);
    cm_outcome_free(o);
    o = run(ctx, "return 'keep'");
    assert_string_equal(cm_outcome_result_text(o, NULL), "keep");
    SAYS(cm_outcome_warning(o, 0), "it is short enough");
    cm_outcome_free(o);
    cm_on_result(ctx, on_result, NULL);
    o = run(ctx, "return 5");
    assert_string_equal(cm_outcome_result_json(o, NULL), "5");
    assert_null(cm_outcome_warning(o, 0));
    cm_outcome_free(o);
    cm_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_program_did_is_undone),
        cmocka_unit_test(an_embedder_hears_what_happens_and_keeps_what_it_needs),
        cmocka_unit_test(an_embedder_says_what_is_told_of_a_result),
    };

    return cmocka_run_group_tests_name("api_undo", tests, NULL, NULL);
}
