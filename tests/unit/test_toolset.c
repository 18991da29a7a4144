/** Tool sets: each tool is a command. */
#include "base/fd.h"
#include "connector/kinds.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "connector_world.h"

static const char *const env[] = {"PATH=/usr/bin:/bin", "GREETING=hello", NULL};
#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})

static void tools(struct world *w, const struct cm_toolset_tool *list, size_t n)
{
    w->c = cm_connector_toolset(w->loop, &(struct cm_connector_base){.name = "local"},
                                &(struct cm_toolset_spec){.tools = list, .n_tools = n});
    start(w);
}

static void a_command_knows_its_execution(void **state)
{
    struct world *w = *state;
    const struct cm_toolset_tool list[] = {
        {.name = "whose", .command = COMMAND("printenv", "CODEMODE_EXECUTION_ID"), .env = env}};

    tools(w, list, 1);
    cm_connector_serve(w->c, "exec_9");
    call(w, "whose", "{}");
    assert_string_equal(w->seen.json, "\"exec_9\"");
}

static void a_tool_is_a_command_that_reads_json_and_prints_its_result(void **state)
{
    struct world *w = *state;
    const struct cm_toolset_tool list[] = {
        {.name = "cat", .command = COMMAND("cat"), .env = env},
        {.name = "count", .command = COMMAND("wc", "-c"), .env = env},
        {.name = "text", .command = COMMAND("sh", "-c", "echo $GREETING; echo"), .env = env},
        {.name = "quiet", .command = COMMAND("true"), .env = env},
        {.name = "bytes", .command = COMMAND("printf", "\\377\\001"), .env = env},
        {.name = "where", .command = COMMAND("pwd"), .env = env, .cwd = "/usr"},
    };
    static const char *const want[][2] = {{"cat", "{\"a\":[1,\"x\"]}"}, {"count", "13"},
                                          {"text", "\"hello\\n\""},     {"quiet", "\"\""},
                                          {"bytes", "\"/wE=\""},        {"where", "\"/usr\""}};

    tools(w, list, CM_ARRAY_LEN(list));
    for (size_t i = 0; i < CM_ARRAY_LEN(want); i++) {
        call(w, want[i][0], "{\"a\":[1,\"x\"]}");
        assert_false(w->seen.failed);
        assert_string_equal(w->seen.json, want[i][1]);
    }
    call(w, "bytes", "{}");
    assert_string_equal(w->seen.marks, "{\"\":\"bytes\"}");
}

static void a_command_that_fails_says_what_it_wrote_to_standard_error(void **state)
{
    struct world *w = *state;
    const struct cm_toolset_tool list[] = {
        {.name = "bad", .command = COMMAND("sh", "-c", "echo no such thing >&2; exit 3"), .env = env},
        {.name = "killed", .command = COMMAND("sh", "-c", "kill -9 $$"), .env = env},
        {.name = "missing", .command = COMMAND("no-such-program-here"), .env = env},
    };

    tools(w, list, CM_ARRAY_LEN(list));
    call(w, "bad", "{}");
    assert_true(w->seen.failed);
    assert_string_equal(
        w->seen.json,
        "{\"name\":\"Error\",\"message\":\"bad: 'sh' ended with status 3: no such thing\",\"code\":\"exit\","
        "\"exitCode\":3,\"stderr\":\"no such thing\\n\"}");
    call(w, "killed", "{}");
    assert_non_null(strstr(w->seen.json, "\"signal\":9"));
    call(w, "missing", "{}");
    assert_non_null(strstr(w->seen.json, "no-such-program-here"));
    assert_non_null(strstr(w->seen.json, "\"code\":\"spawn\""));
}

static void a_cancelled_command_is_ended_with_its_children(void **state)
{
    struct world *w = *state;
    char folder[] = "/tmp/codemode-test-XXXXXX";
    char text[32] = {0};
    cm_call *k = NULL;

    assert_non_null(mkdtemp(folder));
    cm_autofree char *fifo = cm_asprintf("%s/pid", folder);
    cm_autofree char *script = cm_asprintf("sleep 1000 & echo $! > %s; wait", fifo);
    const struct cm_toolset_tool list[] = {
        {.name = "slow", .command = COMMAND("sh", "-c", script), .env = env},
    };
    assert_int_equal(mkfifo(fifo, 0600), 0);
    cm_autoclose int fd = open(fifo, O_RDWR | O_CLOEXEC);
    tools(w, list, 1);
    cm_connector_call(w->c, 0, no_args, take, &w->seen, &k);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    cm_autoclose int child = (int)syscall(SYS_pidfd_open, strtol(text, NULL, 10), 0);
    assert_true(child >= 0);
    cm_call_cancel(k);
    WAIT_WHILE(w, w->seen.n == 0);
    assert_non_null(strstr(w->seen.json, "\"code\":\"cancelled\""));
    assert_int_equal(poll(&(struct pollfd){.fd = child, .events = POLLIN}, 1, 30000), 1);
    unlink(fifo);
    rmdir(folder);
}

static void a_command_that_takes_too_long_fails(void **state)
{
    struct world *w = *state;
    const struct cm_toolset_tool list[] = {
        {.name = "slow", .command = COMMAND("sleep", "1000"), .env = env, .timeout_ms = 50},
    };

    tools(w, list, 1);
    call(w, "slow", "{}");
    assert_non_null(strstr(w->seen.json, "\"code\":\"timeout\""));
}

static void a_command_that_floods_is_ended(void **state)
{
    struct world *w = *state;
    const struct cm_toolset_tool list[] = {{.name = "flood", .command = COMMAND("yes"), .env = env}};

    tools(w, list, 1);
    call(w, "flood", "{}");
    assert_non_null(strstr(w->seen.json, "\"code\":\"limit\""));
}

static void one_bad_tool_is_named_and_left_out(void **state)
{
    struct world *w = *state;
    const char *const *warnings = NULL;
    const struct cm_toolset_tool list[] = {
        {.name = "good", .command = COMMAND("true"), .env = env},
        {.name = "empty", .command = (const char *const[]){NULL}, .env = env},
        {.name = "schema", .command = COMMAND("true"), .env = env, .input_schema = "{"},
        {.name = "go:od", .command = COMMAND("true"), .env = env},
        {.name = "go/od", .command = COMMAND("true"), .env = env},
        {.name = "later", .command = COMMAND("no-such-program-here"), .env = env},
    };

    tools(w, list, CM_ARRAY_LEN(list));
    assert_int_equal(cm_connector_warnings(w->c, &warnings), 4);
    assert_non_null(strstr(warnings[0], "'empty'"));
    assert_non_null(strstr(warnings[1], "'schema'"));
    assert_non_null(strstr(warnings[2], "'go:od' and 'go/od'"));
    assert_non_null(strstr(warnings[3], "no-such-program-here"));
    call(w, "good", "{}");
    call(w, "go_od", "{}");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest all[] = {
        T(a_command_knows_its_execution),
        T(a_tool_is_a_command_that_reads_json_and_prints_its_result),
        T(a_command_that_fails_says_what_it_wrote_to_standard_error),
        T(a_cancelled_command_is_ended_with_its_children),
        T(a_command_that_takes_too_long_fails),
        T(a_command_that_floods_is_ended),
        T(one_bad_tool_is_named_and_left_out),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
