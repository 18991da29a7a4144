/** <codemode.h> as an embedder uses it: nothing of the project but that header, and the shared library. */
#include <codemode.h>

#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cm_ctx *open_memory(const char *config)
{
    struct cm_options options = {.config_json = config, .store = "memory:", .no_config = config == NULL};
    cm_ctx *ctx = NULL;
    struct cm_err err;

    if (cm_open(&options, &ctx, &err) != CM_OK)
        fail_msg("%s", err.message);
    return ctx;
}

static cm_outcome *run(cm_ctx *ctx, const char *code)
{
    struct cm_run_options options = {.code = code};
    cm_outcome *o = NULL;
    struct cm_err err;

    if (cm_run(ctx, &options, &o, &err) != CM_OK)
        fail_msg("%s", err.message);
    return o;
}

static void a_program_runs_and_its_outcome_has_every_part(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    cm_outcome *o = run(ctx, "console.log('hi'); console.error('no'); return {answer: 6 * 7}");
    size_t len = 0;

    (void)state;
    assert_string_equal(cm_outcome_status(o), "completed");
    assert_int_equal(strncmp(cm_outcome_execution_id(o), "exec_", 5), 0);
    assert_string_equal(cm_outcome_result_json(o, &len), "{\"answer\":42}");
    assert_int_equal(len, 13);
    assert_null(cm_outcome_result_text(o, NULL));
    assert_string_equal(cm_outcome_log(o, 0), "hi");
    assert_string_equal(cm_outcome_log(o, 1), "[error] no");
    assert_null(cm_outcome_log(o, 2));
    assert_null(cm_outcome_warning(o, 0));
    assert_null(cm_outcome_error(o, "message"));
    cm_outcome_free(o);
    o = run(ctx, "return 'text'");
    assert_string_equal(cm_outcome_result_text(o, &len), "text");
    cm_outcome_free(o);
    o = run(ctx, "return undefined");
    assert_null(cm_outcome_result_json(o, NULL));
    cm_outcome_free(o);
    cm_close(ctx);
}

static void a_program_that_throws_is_an_outcome_with_its_place(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    cm_outcome *o = run(ctx, "\nthrow new RangeError('too far')");

    (void)state;
    assert_string_equal(cm_outcome_status(o), "error");
    assert_string_equal(cm_outcome_error(o, "name"), "RangeError");
    assert_string_equal(cm_outcome_error(o, "message"), "too far");
    assert_int_equal(cm_outcome_error_line(o), 2);
    cm_outcome_free(o);
    cm_close(ctx);
}

/* ---- tools from C */

static void add(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    int *n_calls = user;
    int a = 0, b = 0;
    char text[32];

    (void)args_len;
    ++*n_calls;
    if (sscanf(args_json, "{\"a\":%d,\"b\":%d}", &a, &b) != 2) {
        cm_tool_fail(call, "a and b are needed");
        return;
    }
    snprintf(text, sizeof text, "%d", a + b);
    cm_tool_return(call, text, strlen(text));
}

static void a_tool_made_of_a_callback_is_called_and_its_failure_can_be_caught(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    int n_calls = 0;
    struct cm_tool tool = {.connector = "math",
                           .name = "add",
                           .description = "Adds.",
                           .fn = add,
                           .user = &n_calls,
                           .flags = CM_TOOL_READ_ONLY};
    struct cm_err err;
    char *types = NULL;

    (void)state;
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    cm_outcome *o = run(ctx, "let m; try { await math.add({}) } catch (e) { m = e.message }\n"
                             "return [await math.add({a: 40, b: 2}), m]");
    assert_string_equal(cm_outcome_result_json(o, NULL), "[42,\"a and b are needed\"]");
    assert_int_equal(n_calls, 2);
    cm_outcome_free(o);
    assert_int_equal(cm_types(ctx, "math.add", &types, &err), CM_OK);
    assert_non_null(strstr(types, "Adds."));
    cm_text_free(types);
    cm_close(ctx);
}

static void fail_with(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    (void)user, (void)args_len;
    cm_tool_fail_with(call, "E_STOCK",
                      strstr(args_json, "bad") ? "[1" : "{\"left\":9007199254740993,\"message\":\"no\"}",
                      "sold out");
}

static void a_callback_fails_with_fields_that_a_program_can_branch_on(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    struct cm_tool tool = {.connector = "shop", .name = "buy", .fn = fail_with};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    cm_outcome *o =
        run(ctx, "const tell = e => [e.message, e.code, typeof e.left, { ...e }];\n"
                 "return [await shop.buy({}).catch(tell), await shop.buy({ bad: 1 }).catch(tell)]");
    assert_string_equal(
        cm_outcome_result_json(o, NULL),
        "[[\"sold out\",\"E_STOCK\",\"bigint\",{\"code\":\"E_STOCK\",\"left\":\"9007199254740993\"}],"
        "[\"sold out\",\"E_STOCK\",\"undefined\",{\"code\":\"E_STOCK\"}]]");
    cm_outcome_free(o);
    cm_close(ctx);
}

static void what_an_error_has_besides_is_one_object(void **state)
{
    cm_ctx *ctx = open_memory(NULL);

    (void)state;
    cm_outcome *o = run(ctx, "throw Object.assign(new Error('x', { cause: 1n }), { status: 1, code: 'E' })");
    assert_string_equal(cm_outcome_error_fields(o), "{\"status\":1,\"cause\":\"1\"}");
    cm_outcome_free(o);
    o = run(ctx, "throw new Error('x')");
    assert_null(cm_outcome_error_fields(o));
    cm_outcome_free(o);
    o = run(ctx, "return 1");
    assert_null(cm_outcome_error_fields(o));
    cm_outcome_free(o);
    cm_close(ctx);
}

static void what_is_cut_is_told_by_sentences_in_order(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    struct cm_run_options opts = {.code = "console.log('x'.repeat(90)); return 'y'.repeat(90)",
                                  .limits_json = "{\"resultBytes\": 20, \"logBytes\": 10}"};
    struct cm_err err;
    cm_outcome *o = NULL;

    (void)state;
    assert_int_equal(cm_run(ctx, &opts, &o, &err), CM_OK);
    assert_non_null(strstr(cm_outcome_truncated(o, 0), "limits.resultBytes"));
    assert_non_null(strstr(cm_outcome_truncated(o, 1), "limits.logBytes"));
    assert_null(cm_outcome_truncated(o, 2));
    cm_outcome_free(o);
    opts.limits_json = "{\"logBytes\": 10}";
    assert_int_equal(cm_run(ctx, &opts, &o, &err), CM_OK);
    assert_non_null(strstr(cm_outcome_truncated(o, 0), "limits.logBytes"));
    assert_null(cm_outcome_truncated(o, 1));
    cm_outcome_free(o);
    cm_close(ctx);
}

static void tools_added_after_a_run_are_there_for_the_next(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    int n = 0;
    struct cm_tool tool = {.connector = "math", .name = "add", .fn = add, .user = &n};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    cm_outcome_free(run(ctx, "return await math.add({a: 1, b: 1})"));
    tool.name = "plus";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    tool.connector = "more";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    cm_outcome *o = run(ctx, "return [await math.plus({a: 1, b: 2}), await more.plus({a: 2, b: 2}), "
                             "(await codemode.search('plus')).total]");
    assert_string_equal(cm_outcome_result_json(o, NULL), "[3,4,2]");
    cm_outcome_free(o);
    cm_close(ctx);
}

static void tools_of_bad_or_taken_names_are_refused_with_the_name(void **state)
{
    cm_ctx *ctx = open_memory("{\"codemode\": {\"toolsets\": {\"local\": {\"tools\": {}}}}}");
    int n = 0;
    struct cm_tool tool = {.connector = "local", .name = "x", .fn = add, .user = &n};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "toolsets.local"));
    tool.connector = "codemode";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_INVALID);
    tool.connector = "Promise";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_INVALID);
    tool.connector = "not-one";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_INVALID);
    tool.connector = "mine";
    tool.input_schema = "{";
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_INVALID);
    tool.input_schema = NULL;
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_OK);
    assert_int_equal(cm_add_tool(ctx, &tool, &err), CM_E_CONFLICT);
    cm_close(ctx);
}

/* ---- without blocking */

struct finished {
    int n;
    char status[32];
    cm_tool_call *held;
    cm_ctx *ctx;
    cm_status nested;
};

static void on_done(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct finished *f = user;

    (void)err;
    f->n++;
    snprintf(f->status, sizeof f->status, "%s", take_outcome ? cm_outcome_status(take_outcome) : "none");
    cm_outcome_free(take_outcome);
}

static void a_run_goes_on_in_the_callers_own_loop(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    struct finished f = {0};
    struct cm_run_options options = {.code = "return await codemode.search('x')"};
    struct pollfd p = {.fd = cm_poll_fd(ctx), .events = POLLIN};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_run_start(ctx, &options, on_done, &f, NULL, &err), CM_OK);
    assert_int_equal(f.n, 0); /* never inside the start */
    for (int i = 0; i < 10000 && !f.n; i++) {
        cm_dispatch(ctx);
        int timeout = cm_poll_timeout_ms(ctx);
        if (!f.n && timeout != 0)
            poll(&p, 1, timeout);
    }
    assert_int_equal(f.n, 1);
    assert_string_equal(f.status, "completed");
    assert_false(cm_wait(ctx));
    cm_close(ctx);
}

static void hold(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    struct finished *f = user;

    (void)args_json, (void)args_len;
    f->held = call;
    struct cm_run_options options = {.code = "return 1"};
    cm_outcome *o = NULL;
    f->nested = cm_run(f->ctx, &options, &o, NULL);
    cm_interrupt(f->ctx);
}

static void an_interruption_cancels_what_runs_and_a_late_answer_is_harmless(void **state)
{
    struct finished f = {.ctx = open_memory(NULL)};
    struct cm_tool tool = {.connector = "slow", .name = "hold", .fn = hold, .user = &f};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_add_tool(f.ctx, &tool, &err), CM_OK);
    cm_outcome *o = run(f.ctx, "await slow.hold({})");
    assert_string_equal(cm_outcome_status(o), "cancelled");
    cm_outcome_free(o);
    /* A blocking call from a callback would turn the loop within itself. */
    assert_int_equal(f.nested, CM_E_CONFLICT);
    cm_tool_return(f.held, "1", 1);
    o = run(f.ctx, "return 2");
    assert_string_equal(cm_outcome_result_json(o, NULL), "2");
    cm_outcome_free(o);
    cm_close(f.ctx);
}

static void closing_ends_what_is_under_way_with_its_callback(void **state)
{
    struct finished f = {0};
    cm_ctx *ctx = open_memory(NULL);
    struct cm_run_options options = {.code = "await new Promise(r => setTimeout(r, 100000))"};
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_run_start(ctx, &options, on_done, &f, NULL, &err), CM_OK);
    cm_close(ctx);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.status, "cancelled");
}

/* ---- looking */

static void what_was_done_can_be_listed_read_and_deleted(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    cm_outcome *o = run(ctx, "return 'kept'");
    struct cm_err err;
    char *json = NULL;

    (void)state;
    assert_int_equal(cm_executions(ctx, 0, &json, &err), CM_OK);
    assert_non_null(strstr(json, cm_outcome_execution_id(o)));
    cm_text_free(json);
    assert_int_equal(cm_execution(ctx, cm_outcome_execution_id(o), &json, &err), CM_OK);
    assert_non_null(strstr(json, "\"code\":\"return 'kept'\""));
    cm_text_free(json);
    assert_int_equal(cm_execution_delete(ctx, cm_outcome_execution_id(o), &err), CM_OK);
    assert_int_equal(cm_execution(ctx, cm_outcome_execution_id(o), &json, &err), CM_E_NOT_FOUND);
    cm_outcome_free(o);
    cm_close(ctx);
}

static void a_program_is_normalised_and_a_syntax_error_has_its_place(void **state)
{
    cm_ctx *ctx = open_memory(NULL);
    struct cm_err err;
    char *text = NULL;

    (void)state;
    assert_int_equal(cm_normalize(ctx, "```js\nreturn 1\n```", 0, &text, &err), CM_OK);
    assert_non_null(strstr(text, "return 1"));
    assert_null(strstr(text, "```"));
    cm_text_free(text);
    assert_int_equal(cm_normalize(ctx, "return 1 +;", 0, &text, &err), CM_E_INVALID);
    assert_non_null(strstr(err.message, "line 1"));
    cm_close(ctx);
}

static void check_names_what_does_not_work_and_that_is_no_failure(void **state)
{
    cm_ctx *ctx = open_memory("{\"mcpServers\": {\"web\": {\"url\": \"https://example.com/mcp\"},"
                              "\"gone\": {\"command\": \"no-such-program-anywhere\"}}}");
    struct cm_err err;
    char *json = NULL;

    (void)state;
    assert_int_equal(cm_check(ctx, &json, &err), CM_OK);
    assert_non_null(strstr(json, "\"ok\":false"));
    assert_non_null(strstr(json, "not supported in this version"));
    assert_non_null(strstr(json, "no-such-program-anywhere"));
    assert_non_null(strstr(json, "\"sandbox\":{\"ok\":true"));
    cm_text_free(json);
    cm_close(ctx);
}

static void the_description_of_the_tool_names_the_globals(void **state)
{
    cm_ctx *ctx =
        open_memory("{\"codemode\": {\"toolsets\": {\"a\": {\"tools\": {}, \"instructions\": \"Small.\"},"
                    "\"b\": {\"tools\": {}}}}}");
    struct cm_err err;
    char *text = NULL;

    (void)state;
    assert_int_equal(cm_tool_description(ctx, &text, &err), CM_OK);
    assert_non_null(strstr(text, "The ONLY globals are `a`, `b` and `codemode`"));
    assert_non_null(strstr(text, "- `a` \xE2\x80\x94 Small."));
    cm_text_free(text);
    cm_close(ctx);
}

static void what_cannot_be_opened_says_why(void **state)
{
    struct cm_options bad_store = {.no_config = true, .store = "postgres://x"};
    struct cm_options bad_runtime = {.no_config = true, .store = "memory:", .runtime = "a/b"};
    struct cm_options bad_config = {.config_json = "{\"codemode\": {\"limits\": {\"cpuMs\": true}}}"};
    cm_ctx *ctx = NULL;
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_open(&bad_store, &ctx, &err), CM_E_INVALID);
    assert_non_null(strstr(err.message, "memory:"));
    assert_int_equal(cm_open(&bad_runtime, &ctx, &err), CM_E_INVALID);
    assert_int_equal(cm_open(&bad_config, &ctx, &err), CM_E_CONFIG);
    assert_non_null(strstr(err.message, "codemode.limits.cpuMs"));
    assert_null(ctx);
}

/* ---- what a human decides */

static void pay(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    char *paid = user;

    (void)args_len;
    (void)snprintf(paid + strlen(paid), 200, "%s", args_json);
    cm_tool_return(call, "\"paid\"", 6);
}

static cm_ctx *open_bank(char *paid)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"string\"}}}";
    const struct cm_tool tool = {.connector = "bank",
                                 .name = "pay",
                                 .input_schema = schema,
                                 .flags = CM_TOOL_REQUIRES_APPROVAL,
                                 .fn = pay,
                                 .user = paid};
    cm_ctx *ctx = open_memory(NULL);
    struct cm_err err;

    paid[0] = '\0';
    if (cm_add_tool(ctx, &tool, &err) != CM_OK)
        fail_msg("%s", err.message);
    return ctx;
}

static void what_waits_is_approved_once_and_the_program_goes_on(void **state)
{
    char paid[1000];
    cm_ctx *ctx = open_bank(paid);
    cm_outcome *o = run(ctx, "return await bank.pay({to: 'Mira'})"), *end = NULL;
    struct cm_answer answer = {.id = cm_outcome_execution_id(o), .hash = "sha256:0", .by = "a test"};
    struct cm_err err = {0};
    char *json = NULL;

    (void)state;
    assert_string_equal(cm_outcome_status(o), "paused");
    assert_string_equal(cm_outcome_pending(o, 0), "call 0: bank.pay {\"to\":\"Mira\"}");
    assert_null(cm_outcome_pending(o, 1));
    assert_int_equal(cm_pending(ctx, answer.id, &json, &err), CM_OK);
    assert_non_null(strstr(json, "\"args\":{\"to\":\"Mira\"},\"argsHash\":\"sha256:"));
    cm_text_free(json);
    assert_int_equal(cm_approve(ctx, &answer, &end, &err), CM_E_CONFLICT);
    assert_string_equal(paid, "");
    answer.hash = NULL;
    if (cm_approve(ctx, &answer, &end, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_string_equal(cm_outcome_status(end), "completed");
    assert_string_equal(cm_outcome_result_text(end, NULL), "paid");
    assert_string_equal(paid, "{\"to\":\"Mira\"}");
    assert_int_equal(cm_approve(ctx, &answer, &end, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "completed"));
    assert_string_equal(paid, "{\"to\":\"Mira\"}");
    cm_outcome_free(end);
    cm_outcome_free(o);
    cm_close(ctx);
}

struct ended {
    cm_outcome *outcome;
    cm_status status;
};

static void on_ended(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct ended *e = user;

    e->outcome = take_outcome;
    e->status = err ? err->status : CM_OK;
}

static void a_rejection_does_not_block_and_the_program_sees_why(void **state)
{
    static const uint32_t first[] = {0};
    char paid[1000];
    cm_ctx *ctx = open_bank(paid);
    cm_outcome *o =
        run(ctx, "try { await bank.pay({to: 'a'}) } catch (e) { return e.code + ' ' + e.message }");
    const struct cm_answer answer = {
        .id = cm_outcome_execution_id(o), .seqs = first, .n_seqs = 1, .reason = "not today"};
    struct ended end = {0};
    struct cm_err err = {0};

    (void)state;
    if (cm_reject_start(ctx, &answer, on_ended, &end, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_null(end.outcome);
    while (cm_wait(ctx)) {
    }
    assert_non_null(end.outcome);
    assert_non_null(strstr(cm_outcome_result_text(end.outcome, NULL), "rejected "));
    assert_non_null(strstr(cm_outcome_result_text(end.outcome, NULL), "not today"));
    assert_string_equal(paid, "");
    cm_outcome_free(end.outcome);
    cm_outcome_free(o);
    cm_close(ctx);
}

static void what_waits_can_be_cancelled_or_expires(void **state)
{
    char paid[1000];
    cm_ctx *ctx = open_bank(paid);
    cm_outcome *one = run(ctx, "return await bank.pay({})"), *two = run(ctx, "return await bank.pay({})");
    struct cm_answer answer = {.id = cm_outcome_execution_id(two)};
    cm_outcome *end = NULL;
    struct cm_err err = {0};
    size_t n = 0;

    (void)state;
    assert_int_equal(cm_cancel(ctx, cm_outcome_execution_id(one), &err), CM_OK);
    assert_int_equal(cm_cancel(ctx, cm_outcome_execution_id(one), &err), CM_E_CONFLICT);
    assert_int_equal(cm_cancel(ctx, "exec_1", &err), CM_E_NOT_FOUND);
    assert_int_equal(cm_expire(ctx, 3600000, &n, &err), CM_OK);
    assert_int_equal(n, 0);
    while (n == 0) /* the clock must have moved on by a millisecond */
        assert_int_equal(cm_expire(ctx, 0, &n, &err), CM_OK);
    assert_int_equal(n, 1);
    assert_int_equal(cm_approve(ctx, &answer, &end, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "expired"));
    answer.id = NULL;
    assert_int_equal(cm_reject(ctx, &answer, &end, &err), CM_E_INVALID);
    assert_string_equal(paid, "");
    cm_outcome_free(one);
    cm_outcome_free(two);
    cm_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_and_its_outcome_has_every_part),
        cmocka_unit_test(a_program_that_throws_is_an_outcome_with_its_place),
        cmocka_unit_test(a_tool_made_of_a_callback_is_called_and_its_failure_can_be_caught),
        cmocka_unit_test(a_callback_fails_with_fields_that_a_program_can_branch_on),
        cmocka_unit_test(what_is_cut_is_told_by_sentences_in_order),
        cmocka_unit_test(what_an_error_has_besides_is_one_object),
        cmocka_unit_test(tools_added_after_a_run_are_there_for_the_next),
        cmocka_unit_test(tools_of_bad_or_taken_names_are_refused_with_the_name),
        cmocka_unit_test(a_run_goes_on_in_the_callers_own_loop),
        cmocka_unit_test(an_interruption_cancels_what_runs_and_a_late_answer_is_harmless),
        cmocka_unit_test(closing_ends_what_is_under_way_with_its_callback),
        cmocka_unit_test(what_was_done_can_be_listed_read_and_deleted),
        cmocka_unit_test(a_program_is_normalised_and_a_syntax_error_has_its_place),
        cmocka_unit_test(check_names_what_does_not_work_and_that_is_no_failure),
        cmocka_unit_test(the_description_of_the_tool_names_the_globals),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(what_waits_is_approved_once_and_the_program_goes_on),
        cmocka_unit_test(a_rejection_does_not_block_and_the_program_sees_why),
        cmocka_unit_test(what_waits_can_be_cancelled_or_expires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
