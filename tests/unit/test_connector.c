/** Connectors: states, calls that are answered exactly once, names, secrets, callbacks in C. */
#include "connector/kinds.h"
#include "connector/namemap.h"

#include <stdint.h>
#include <stdio.h>

#include "connector_world.h"

/* ---- callbacks ---- */

static void echo(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    cm_native_reply_json(k, args);
}

static void keep(void *user, cm_call *k, struct cm_str args)
{
    (void)args;
    *(cm_call **)user = k;
}

static void refuse(void *user, cm_call *k, struct cm_str args)
{
    (void)args;
    cm_native_reply_error(k, "teapot",
                          CM_STR("{\"status\":418,\"name\":\"Forged\",\"id\":12345678901234567890}"), user);
}

static cm_connector *native(struct world *w, const cm_secrets *secrets)
{
    return cm_connector_native(w->loop, &(struct cm_connector_base){.name = "local", .secrets = secrets},
                               "Be kind.");
}

static void add(struct world *w, struct cm_native_tool tool)
{
    struct cm_err err;

    if (cm_connector_native_add(w->c, &tool, &err) != CM_OK)
        fail_msg("%s", err.message);
}

static void free_when_ready(void *user, cm_connector *c)
{
    struct world *w = user;

    w->ready++;
    w->c = NULL;
    cm_connector_free(c);
}

static void a_waiter_may_free_the_connector_with_others_still_waiting(void **state)
{
    struct world *w = *state;

    w->c = native(w, NULL);
    for (int i = 0; i < 8; i++)
        cm_connector_ensure(w->c, free_when_ready, w);
    WAIT_WHILE(w, !w->ready);
    assert_int_equal(w->ready, 1);
    assert_null(w->c);
}

static void a_call_is_answered_later_and_once(void **state)
{
    struct world *w = *state;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "echo", .fn = echo});
    assert_int_equal(cm_connector_find(w->c, CM_STR("echo")), -1);
    start(w);
    assert_string_equal(cm_connector_instructions(w->c), "Be kind.");
    call(w, "echo", "{\"a\":12345678901234567890}");
    assert_false(w->seen.failed);
    assert_string_equal(w->seen.json, "{\"a\":\"12345678901234567890\"}");
    assert_string_equal(w->seen.marks, "{\"/a\":\"bigint\"}");
    add(w, (struct cm_native_tool){.name = "later", .fn = echo});
    call(w, "later", "{}");
    assert_false(w->seen.failed);
}

static void a_failure_is_an_error_with_the_upstreams_members(void **state)
{
    struct world *w = *state;
    char text[] = "short and stout";

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "fail", .fn = refuse, .user = text});
    start(w);
    call(w, "fail", "{}");
    assert_true(w->seen.failed);
    assert_string_equal(w->seen.json,
                        "{\"name\":\"Error\",\"message\":\"short and stout\",\"code\":\"teapot\","
                        "\"status\":418,\"id\":\"12345678901234567890\"}");
    assert_string_equal(w->seen.marks, "{\"\":\"error\",\"/id\":\"bigint\"}");
}

static void a_call_that_takes_too_long_fails_and_its_late_answer_goes_nowhere(void **state)
{
    struct world *w = *state;
    cm_call *kept = NULL;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "slow", .fn = keep, .user = &kept, .timeout_ms = 20});
    start(w);
    call(w, "slow", "{}");
    assert_non_null(strstr(w->seen.json, "\"code\":\"timeout\""));
    assert_non_null(strstr(w->seen.json, "local.slow did not answer within 20 ms"));
    cm_native_reply_json(kept, CM_STR("1"));
    cm_loop_nowait(w->loop);
    assert_int_equal(w->seen.n, 1);
}

static void a_cancelled_call_says_so_also_when_the_connector_goes_away(void **state)
{
    struct world *w = *state;
    cm_call *kept[2] = {NULL, NULL};
    cm_call *k = NULL;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "a", .fn = keep, .user = &kept[0]});
    add(w, (struct cm_native_tool){.name = "b", .fn = keep, .user = &kept[1]});
    start(w);
    cm_connector_call(w->c, 0, no_args, take, &w->seen, &k);
    cm_call_cancel(k);
    cm_call_cancel(k);
    assert_int_equal(w->seen.n, 0);
    WAIT_WHILE(w, !w->seen.n);
    assert_non_null(strstr(w->seen.json, "\"code\":\"cancelled\""));
    cm_connector_call(w->c, 1, no_args, take, &w->seen, &k);
    cm_connector_free(w->c);
    w->c = NULL;
    assert_int_equal(w->seen.n, 2);
    assert_non_null(strstr(w->seen.json, "local.b was cancelled"));
    cm_native_reply_json(kept[0], CM_STR("1"));
    cm_native_reply_json(kept[1], CM_STR("1"));
}

static void free_it(void *user, const struct cm_outcome_value *out)
{
    struct world *w = user;

    take(&w->seen, out);
    cm_connector_free(w->c);
    w->c = NULL;
}

static void a_callback_may_free_the_connector(void **state)
{
    struct world *w = *state;
    cm_call *k = NULL;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "echo", .fn = echo});
    start(w);
    cm_connector_call(w->c, 0, no_args, free_it, w, &k);
    cm_connector_call(w->c, 0, no_args, take, &w->seen, &k);
    WAIT_WHILE(w, w->c);
    assert_int_equal(w->seen.n, 2);
}

static void secrets_leave_in_no_result_and_no_error(void **state)
{
    struct world *w = *state;
    cm_secrets *secrets = cm_secrets_new();
    char text[] = "token hunter2-hunter2 was refused";

    cm_secrets_add(secrets, CM_STR("hunter2-hunter2"), "TOKEN");
    w->c = native(w, secrets);
    add(w, (struct cm_native_tool){.name = "echo", .fn = echo});
    add(w, (struct cm_native_tool){.name = "fail", .fn = refuse, .user = text});
    start(w);
    call(w, "echo", "{\"b\":1,\"h\":\"Bearer hunter2-hunter2\",\"hunter2-hunter2\":2}");
    assert_string_equal(w->seen.json, "{\"b\":1,\"h\":\"Bearer [secret TOKEN]\",\"[secret TOKEN]\":2}");
    call(w, "fail", "{}");
    assert_non_null(strstr(w->seen.json, "token [secret TOKEN] was refused"));
    /* Spelled with escapes it is the same secret. */
    call(w, "echo", "{\"h\":\"\\u0068unter2-hunter2\"}");
    assert_string_equal(w->seen.json, "{\"h\":\"[secret TOKEN]\"}");
    cm_connector_free(w->c);
    w->c = NULL;
    cm_secrets_free(secrets);
}

static void two_tools_never_become_one(void **state)
{
    struct world *w = *state;
    struct cm_native_tool second = {.name = "list.items", .fn = echo};
    struct cm_err err;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "list-items", .fn = echo});
    assert_int_equal(cm_connector_native_add(w->c, &second, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "'list-items'"));
    assert_non_null(strstr(err.message, "'list.items'"));
    second = (struct cm_native_tool){.name = "x", .fn = echo, .input_schema = "[]"};
    assert_int_equal(cm_connector_native_add(w->c, &second, &err), CM_E_INVALID);
    second = (struct cm_native_tool){
        .name = "x", .fn = echo, .flags = CM_METHOD_REQUIRES_APPROVAL | CM_METHOD_REEXECUTE};
    assert_int_equal(cm_connector_native_add(w->c, &second, &err), CM_E_INVALID);
}

static void an_unknown_name_gets_the_nearest(void **state)
{
    struct world *w = *state;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "create-issue", .fn = echo});
    add(w, (struct cm_native_tool){.name = "close_issue", .fn = echo});
    start(w);
    static const char *const cases[][2] = {
        {"create-issue", "local has no method 'create-issue'. Did you mean local.create_issue?"},
        {"create_isue", "local has no method 'create_isue'. Did you mean local.create_issue?"},
        {"issue", "local has no method 'issue'. Did you mean local.close_issue or local.create_issue?"},
        {"constructor", "local has no method 'constructor'. Its methods are create_issue and close_issue."},
    };
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        cm_autofree char *said = cm_connector_unknown(w->c, cm_str_of(cases[i][0]));
        assert_string_equal(said, cases[i][1]);
        assert_int_equal(cm_connector_find(w->c, cm_str_of(cases[i][0])), -1);
    }
}

static void thousands_of_names_are_found(void **state)
{
    struct cm_namemap m = {0};
    static char names[5000][12];

    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        (void)snprintf(names[i], sizeof names[i], "m%zu", i);
        cm_namemap_put(&m, names[i], i);
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(cm_namemap_get(&m, cm_str_of(names[i])), i);
    assert_int_equal(cm_namemap_get(&m, CM_STR("m5000")), -1);
    assert_int_equal(cm_namemap_get(&m, CM_STR("")), -1);
    cm_namemap_done(&m);
}

static void a_revert_is_given_arguments_and_result(void **state)
{
    struct world *w = *state;
    cm_call *k = NULL;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "undoable", .fn = echo, .revert = echo});
    add(w, (struct cm_native_tool){.name = "final", .fn = echo});
    start(w);
    struct cm_value args = {CM_STR("{\"a\":1}"), {NULL, 0}}, result = {CM_STR("[2]"), {NULL, 0}};
    cm_connector_revert(w->c, 0, args, result, take, &w->seen, &k);
    WAIT_WHILE(w, w->seen.n < 1);
    assert_string_equal(w->seen.json, "{\"args\":{\"a\":1},\"result\":[2]}");
    cm_connector_revert(w->c, 1, args, result, take, &w->seen, &k);
    WAIT_WHILE(w, w->seen.n < 2);
    assert_true(w->seen.failed);
}

static char heard[256];

static void hear_pass(void *user, const char *execution, const char *status)
{
    (void)user;
    (void)snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "pass %s %s;", execution, status);
}

static void hear_dispose(void *user, const char *execution, const char *status)
{
    assert_ptr_equal(user, heard);
    (void)snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "dispose %s %s;", execution, status);
}

static void an_embedder_hears_of_the_ends_of_executions(void **state)
{
    struct world *w = *state;
    struct cm_err err = {0};
    const struct cm_native_hooks hooks = {hear_pass, hear_dispose, heard};

    heard[0] = '\0';
    w->c = native(w, NULL);
    cm_connector_pass_end(w->c, "exec_0", "paused"); /* to nobody */
    assert_int_equal(cm_connector_native_hooks(w->c, &hooks, &err), CM_OK);
    cm_connector_pass_end(w->c, "exec_1", "completed");
    cm_connector_dispose(w->c, "exec_1", "completed");
    assert_string_equal(heard, "pass exec_1 completed;dispose exec_1 completed;");
}

static void say_execution(void *user, cm_call *k, struct cm_str args)
{
    cm_autobuf b = CM_BUF_INIT(200);

    (void)user, (void)args;
    cm_json_write_string(&b, cm_str_of(cm_call__execution(k)));
    cm_native_reply_json(k, cm_buf_str(&b));
}

static void a_call_knows_its_execution(void **state)
{
    struct world *w = *state;

    w->c = native(w, NULL);
    add(w, (struct cm_native_tool){.name = "whose", .fn = say_execution});
    start(w);
    call(w, "whose", "{}");
    assert_string_equal(w->seen.json, "\"\"");
    cm_connector_serve(w->c, "exec_7");
    call(w, "whose", "{}");
    assert_string_equal(w->seen.json, "\"exec_7\"");
}

/* ---- a kind that fails to start ---- */

static int n_starts;

static void broken_start(void *self, cm_connector *c)
{
    struct cm_err err;

    (void)self;
    n_starts++;
    (void)cm_err_set(&err, CM_E_IO, "the server said no");
    cm_connector__warn(c, "a tool was left out");
    cm_connector__failed(c, &err);
}

static size_t no_methods(void *self, const struct cm_method **out)
{
    (void)self;
    *out = NULL;
    return 0;
}

static void nothing(void *self)
{
    (void)self;
}

static const struct cm_connector_ops broken_ops = {
    .kind = "broken", .start = broken_start, .methods = no_methods, .free = nothing};

static void a_failed_start_is_told_and_not_tried_again_at_once(void **state)
{
    struct world *w = *state;
    const char *const *warnings = NULL;

    w->c = cm_connector_new(w->loop, &broken_ops, NULL, "srv", "mcpServers.srv", 0, 0, NULL);
    n_starts = 0;
    start(w);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_string_equal(cm_connector_error(w->c), "srv: the server said no");
    assert_int_equal(cm_connector_warnings(w->c, &warnings), 1);
    assert_string_equal(warnings[0], "srv: a tool was left out");
    w->ready = 0;
    start(w);
    assert_int_equal(n_starts, 1);
    cm_connector_ensure(w->c, on_ready, w);
    cm_connector_forget(w->c, w);
    w->ready = 0;
    cm_loop_nowait(w->loop);
    assert_int_equal(w->ready, 0);
    cm_autofree char *said = cm_connector_unknown(w->c, CM_STR("x"));
    assert_string_equal(said, "srv is not available: srv: the server said no");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest all[] = {
        T(a_call_is_answered_later_and_once),
        T(a_waiter_may_free_the_connector_with_others_still_waiting),
        T(a_failure_is_an_error_with_the_upstreams_members),
        T(a_call_that_takes_too_long_fails_and_its_late_answer_goes_nowhere),
        T(a_cancelled_call_says_so_also_when_the_connector_goes_away),
        T(a_callback_may_free_the_connector),
        T(secrets_leave_in_no_result_and_no_error),
        T(two_tools_never_become_one),
        T(an_unknown_name_gets_the_nearest),
        T(thousands_of_names_are_found),
        T(a_revert_is_given_arguments_and_result),
        T(an_embedder_hears_of_the_ends_of_executions),
        T(a_call_knows_its_execution),
        T(a_failed_start_is_told_and_not_tried_again_at_once),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
