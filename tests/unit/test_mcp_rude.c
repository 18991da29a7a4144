/** The MCP connector against tests/servers/rude.mjs, which breaks one rule at a time. */
#include "base/fd.h"
#include "connector/kinds.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp_world.h"

static void open_rude(struct world *w, const char *mode, uint32_t start_timeout_ms)
{
    cm_autofree char *script = cm_asprintf("%s/tests/servers/rude.mjs", env_of("CM_SOURCE_ROOT", "."));
    const char *const argv[] = {"node", script, mode, NULL};

    open_connector(w, argv, start_timeout_ms);
    settle(w);
}

static void expect_start_to_fail(struct world *w, const char *mode, uint32_t start_timeout_ms,
                                 const char *part)
{
    open_rude(w, mode, start_timeout_ms);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_has(cm_connector_error(w->c), part);
    assert_int_equal(strncmp(cm_connector_error(w->c), "srv: ", 5), 0);
    cm_connector_free(w->c);
    w->c = NULL;
}

static void a_server_that_does_not_start_is_explained(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *mode, *part;
    } rows[] = {
        {"prints_and_goes",
         "the server exited with status 3 before it answered initialize; it printed 'Usage: rude [OPTIONS]' "
         "instead of JSON-RPC on its standard output; its standard error ends: bad option --stdio"},
        {"crash", "exited with status 1 before it answered initialize"},
        {"crash", "cannot find module \"luck\""},
        {"exits_in_list", "the server exited with status 4 before it answered tools/list"},
        {"yes", "lines that are no JSON-RPC, the first of them 'y'"},
        {"new_version", "it speaks MCP revision '2031-01-01'; codemode speaks 2025-11-25, 2025-06-18, "
                        "2025-03-26 and 2024-11-05"},
        {"no_version", "must hold a string \"protocolVersion\", which is missing"},
        {"refuses", "it refused initialize: no licence (code -32000)"},
        {"bad_list", "must hold an array \"tools\", which is a string"},
        {"refuses_list", "it refused tools/list: database is gone (code -32603)"},
        {"same_cursor", "its tools/list repeats the cursor 'again' of an earlier page"},
        {"two_cursors", "its tools/list repeats the cursor 'one' of an earlier page"},
        {"endless_pages", "more than the limit of 1000 pages"},
        {"too_many_tools", "more than the limit of 20000 tools"},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++)
        expect_start_to_fail(w, rows[i].mode, 0, rows[i].part);
}

static void a_server_that_does_not_answer_is_given_up_after_its_time(void **state)
{
    struct world *w = *state;

    expect_start_to_fail(w, "silent", 1001, "it did not answer initialize within 1001 ms");
    expect_start_to_fail(w, "silent_list", 3000, "it did not answer tools/list within 3 s");
    expect_start_to_fail(w, "prints_and_hangs", 3000,
                         "it did not answer initialize within 3 s; it printed 'Hello' instead of JSON-RPC on "
                         "its standard output");
}

static void a_server_that_is_late_still_becomes_ready(void **state)
{
    struct world *w = *state;
    char dir[] = "/tmp/cm-mcp-XXXXXX";

    assert_non_null(mkdtemp(dir));
    cm_autofree char *pipe = cm_asprintf("%s/go", dir);
    cm_autofree char *script = cm_asprintf("%s/tests/servers/rude.mjs", env_of("CM_SOURCE_ROOT", "."));
    const char *const argv[] = {"node", script, "late", pipe, NULL};
    assert_int_equal(mkfifo(pipe, 0600), 0);
    open_connector(w, argv, 1002);
    settle(w);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_has(cm_connector_error(w->c), "it did not answer initialize within 1002 ms");
    /* Opening waits for the server to open its end: it has begun by then, or does now. */
    cm_autoclose int go = open(pipe, O_WRONLY | O_CLOEXEC);
    assert_true(go >= 0);
    cm_fd_close(cm_steal_fd(&go));
    WAIT_WHILE(w, cm_connector_state(w->c) == CM_CONN_FAILED);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_READY);
    assert_string_equal(cm_connector_error(w->c), "");
    assert_string_equal(call(w, "plain", "{}"), "\"fine\"");
    (void)unlink(pipe);
    (void)rmdir(dir);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"no-such-mcp-server", "--stdio", NULL};

    open_connector(w, argv, 0);
    settle(w);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_has(cm_connector_error(w->c), "no-such-mcp-server");
}

static void a_program_that_echoes_is_not_taken_for_a_server(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"cat", NULL};

    open_connector(w, argv, 0);
    settle(w);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_has(cm_connector_error(w->c), "it refused initialize");
}

static void standard_error_is_shown_without_secrets(void **state)
{
    struct world *w = *state;

    cm_secrets_add(w->secrets, CM_STR("hunter2-hunter2"), "RUDE_SECRET");
    expect_start_to_fail(w, "says_secret", 0, "token [secret RUDE_SECRET] is not valid");
}

static void forgivable_starts_are_forgiven(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *mode;
        size_t methods;
    } rows[] = {{"old", 0}, {"log_first", 0}, {"no_tools", 0}, {"pages", 5}};

    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        const struct cm_method *m = NULL;
        open_rude(w, rows[i].mode, 0);
        if (cm_connector_state(w->c) != CM_CONN_READY)
            fail_msg("%s: %s", rows[i].mode, cm_connector_error(w->c));
        if (rows[i].methods)
            assert_int_equal(cm_connector_methods(w->c, &m), rows[i].methods);
        if (cm_z_eq(rows[i].mode, "log_first"))
            assert_warned(w, "it printed 'rude listening on stdio' instead of JSON-RPC");
        cm_connector_free(w->c);
        w->c = NULL;
    }
}

static void open_tools(struct world *w)
{
    open_rude(w, "tools", 0);
    if (cm_connector_state(w->c) != CM_CONN_READY)
        fail_msg("%s", cm_connector_error(w->c));
}

static void bad_tools_are_left_out_by_name_and_the_others_stay(void **state)
{
    struct world *w = *state;
    struct cm_schema_ref in = {0}, out = {0};
    static const char *const warnings[] = {
        "tool 'get_profile' is left out: its identifier 'get_profile' is taken by tool 'get-profile'",
        "tool 'plain' is listed twice",
        "the outputSchema of tool 'typed' is ignored: it must be an object, not a string",
        "tool 'bad_schema' is left out: its inputSchema must be an object, not a string",
        "tool 'task_only' is left out",
        "nnnnnnnnnn…') is left out: its name is longer than 256 bytes",
        "('nul') is left out: its name holds a NUL character",
        "is left out: its name must be a string that is not empty, and is missing",
        "is left out: its name must be a string that is not empty, and is empty",
        "is left out: a tool must be an object, not a string",
        "is left out: a tool must be an object, not null",
    };

    open_tools(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(warnings); i++)
        assert_warned(w, warnings[i]);
    assert_string_equal(method_of(w, "get_profile")->origin, "get-profile");
    assert_int_equal(method_of(w, "get_profile")->flags, CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT);
    assert_int_equal(method_of(w, "wipe")->flags, CM_METHOD_DESTRUCTIVE);
    assert_string_equal(method_of(w, "wipe")->description, "Wipe it");
    cm_connector_schemas(w->c, (size_t)cm_connector_find(w->c, CM_STR("typed")), &in, &out);
    assert_true(in.root == in.node);
    assert_non_null(cm_json_get(in.root, "$defs"));
    assert_null(out.node);
    assert_string_equal(cm_connector_instructions(w->c), "Be kind.");
    /* Shown as get_profile, sent as what the server calls it. */
    assert_string_equal(call(w, "get_profile", "{}"), "\"sent as get-profile\"");
}

static void rude_answers_hurt_nobody_but_their_own_call(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *method;
        bool failed;
        const char *part;
    } rows[] = {
        {"wrong_ids", false, "\"yours\""},
        {"text_id", false, "\"id as number\""},
        {"twice", false, "\"first\""},
        {"nothing", true, "neither a result nor an error"},
        {"not_an_object", true, "something that is no object"},
        {"both", true, "\"message\":\"no\""},
        {"protocol_error", true,
         "\"message\":\"Unknown colour: "
         "blue\",\"code\":\"rpc_error\",\"rpcCode\":-32602,\"data\":{\"known\":[\"red\"]}"},
        {"protocol_error", true, "\"rpcCode\":-32602"},
        {"odd_error", true, "an error without a message"},
        {"is_error", true, "\"message\":\"disk\\nfull\",\"code\":\"tool_error\",\"data\":{\"free\":0}"},
        {"empty_error", true, "the tool failed and did not say why"},
        {"batch", false, "\"alone\""},
        {"no_version", false, "\"with version\""},
        {"crlf", false, "\"crlf\""},
        {"latin1", false, "\"caf\xef\xbf\xbd\""},
        {"surrogate", false, "\"\xef\xbf\xbd!\""},
        {"slow_bytes", false, "\"\xc3\xa4 by byte\""},
        {"garbage", false, "\"after garbage\""},
        {"stderr_flood", false, "\"loud\""},
        {"huge_line", true, "longer than the limit of 67108864 bytes"},
        {"deep", true, "nested deeper than 512 levels"},
        {"asks", false,
         "{\"ping\":{},\"sampling/createMessage\":-32601,\"elicitation/create\":-32601,\"roots/"
         "list\":-32601}"},
        {"chatty", false, "\"chatty\""},
        {"secret", false, "the key is [secret RUDE_SECRET]"},
        {"secret_error", true, "bad key [secret RUDE_SECRET]"},
        {"plain", false, "\"fine\""},
    };

    cm_secrets_add(w->secrets, CM_STR("hunter2-hunter2"), "RUDE_SECRET");
    open_tools(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        const char *json = call(w, rows[i].method, "{}");
        if (w->seen.failed != rows[i].failed || !strstr(json, rows[i].part))
            fail_msg("%s: %s, not %s", rows[i].method, json, rows[i].part);
        assert_int_equal(cm_connector_state(w->c), CM_CONN_READY);
    }
    assert_warned(w, "instead of JSON-RPC on its standard output; a server must log to standard error");
}

static void a_child_sees_its_own_environment_and_nothing_else(void **state)
{
    struct world *w = *state;

    assert_int_equal(setenv("CM_TEST_HOST_SECRET", "do not tell", 1), 0);
    open_tools(w);
    assert_has(call(w, "env", "{}"), "\"RUDE_SECRET\":\"hunter2-hunter2\"");
    assert_null(strstr(w->seen.json, "CM_TEST_HOST_SECRET"));
}

static void arguments_must_be_an_object(void **state)
{
    struct world *w = *state;

    open_tools(w);
    assert_has(call(w, "plain", "\"text\""), "it takes one object of named arguments");
    assert_true(w->seen.failed);
    (void)call(w, "plain", "");
    assert_false(w->seen.failed);
}

static void on_pause(void *user)
{
    ((struct world *)user)->told++;
}

static void a_server_that_dies_fails_the_calls_in_flight_and_is_started_again(void **state)
{
    struct world *w = *state;
    struct seen other = {0};

    open_tools(w);
    (void)begin(w, "hang", "{}", &other);
    assert_has(call(w, "die", "{}"),
               "the server exited with status 7; its standard error ends: Error: out of luck");
    assert_true(w->seen.failed);
    WAIT_WHILE(w, other.n == 0);
    assert_true(other.failed);
    assert_has(other.json, "\"code\":\"unavailable\"");
    free(other.json);
    free(other.marks);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_has(cm_connector_error(w->c), "srv: the server exited with status 7");
    /* A second start within five seconds of the first is not made: see cm_connector_ensure. */
    cm_auto(cm_timer) pause = cm_timer_new(w->loop, on_pause, w);
    while (cm_connector_state(w->c) == CM_CONN_FAILED) {
        int before = w->told;
        cm_timer_start(pause, 250);
        WAIT_WHILE(w, w->told == before);
        settle(w);
    }
    assert_string_equal(call(w, "plain", "{}"), "\"fine\"");
}

static void a_signal_is_named(void **state)
{
    struct world *w = *state;

    open_tools(w);
    assert_has(call(w, "killed", "{}"), "the server was ended by signal 9 (Killed)");
}

static void a_flood_of_garbage_ends_the_server(void **state)
{
    struct world *w = *state;

    open_tools(w);
    assert_has(call(w, "garbage_flood", "{}"),
               "the server printed 10000 lines that are no JSON-RPC, the first of them 'again and again'");
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
}

static void a_server_that_stops_reading_fails_the_next_call(void **state)
{
    struct world *w = *state;

    open_tools(w);
    assert_string_equal(call(w, "deaf", "{}"), "\"deaf now\"");
    /* Its end of the pipe closes some time later; the first write after that says so. */
    while (!w->seen.failed && w->seen.n < 1000) {
        struct seen one = {0};
        cm_call *k = begin(w, "hang", "{}", &one);
        cm_loop_nowait(w->loop);
        if (one.n == 0)
            cm_call_cancel(k);
        WAIT_WHILE(w, one.n == 0);
        w->seen.failed = strstr(one.json, "cannot be written to") != NULL;
        w->seen.n++;
        free(one.json);
        free(one.marks);
    }
    assert_true(w->seen.failed);
}

static void a_cancelled_call_is_cancelled_upstream(void **state)
{
    struct world *w = *state;
    struct seen gone = {0};

    open_tools(w);
    cm_call *k = begin(w, "hang", "{}", &gone);
    cm_call_cancel(k);
    WAIT_WHILE(w, gone.n == 0);
    assert_has(gone.json, "\"code\":\"cancelled\"");
    assert_has(call(w, "cancelled", "{}"), "\"reason\":\"the caller no longer waits for the answer\"");
    assert_int_equal(gone.n, 1);
    free(gone.json);
    free(gone.marks);
}

static void a_changed_tool_list_is_read_again_and_a_failing_one_keeps_the_old(void **state)
{
    struct world *w = *state;

    open_tools(w);
    assert_int_equal(cm_connector_find(w->c, CM_STR("grown")), -1);
    (void)call(w, "grow", "{}");
    WAIT_WHILE(w, cm_connector_find(w->c, CM_STR("grown")) < 0);
    assert_string_equal(call(w, "grown", "{}"), "\"I am new\"");
    (void)call(w, "shrink_badly", "{}");
    assert_string_equal(call(w, "plain", "{}"), "\"fine\"");
    assert_string_equal(call(w, "grown", "{}"), "\"I am new\"");
}

static void a_connector_can_be_freed_at_any_moment(void **state)
{
    struct world *w = *state;
    struct seen gone = {0};

    open_tools(w);
    (void)begin(w, "hang", "{}", &gone);
    cm_connector_free(w->c);
    w->c = NULL;
    assert_int_equal(gone.n, 1);
    assert_true(gone.failed);
    free(gone.json);
    free(gone.marks);
    open_rude(w, "pages", 0);
    cm_connector_free(w->c);
    w->c = NULL;
    /* In the middle of a handshake. */
    cm_autofree char *script = cm_asprintf("%s/tests/servers/rude.mjs", env_of("CM_SOURCE_ROOT", "."));
    const char *const argv[] = {"node", script, "silent", NULL};
    open_connector(w, argv, 0);
    cm_connector_ensure(w->c, NULL, NULL);
    cm_loop_nowait(w->loop);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_server_that_does_not_start_is_explained),
        T(a_server_that_does_not_answer_is_given_up_after_its_time),
        T(a_server_that_is_late_still_becomes_ready),
        T(a_program_that_is_not_there_is_named),
        T(a_program_that_echoes_is_not_taken_for_a_server),
        T(standard_error_is_shown_without_secrets),
        T(forgivable_starts_are_forgiven),
        T(bad_tools_are_left_out_by_name_and_the_others_stay),
        T(rude_answers_hurt_nobody_but_their_own_call),
        T(a_child_sees_its_own_environment_and_nothing_else),
        T(arguments_must_be_an_object),
        T(a_server_that_dies_fails_the_calls_in_flight_and_is_started_again),
        T(a_signal_is_named),
        T(a_flood_of_garbage_ends_the_server),
        T(a_server_that_stops_reading_fails_the_next_call),
        T(a_cancelled_call_is_cancelled_upstream),
        T(a_changed_tool_list_is_read_again_and_a_failing_one_keeps_the_old),
        T(a_connector_can_be_freed_at_any_moment),
    };

    return cmocka_run_group_tests_name("mcp_servers", tests, NULL, NULL);
}
