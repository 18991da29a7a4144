/** The serving end of MCP over real pipes: what is answered, and when it is over. */
#include "base/fd.h"
#include "mcp/server.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* A loop with nothing left to wait for is a failure, not a hang. */
#define WAIT_WHILE(p, condition)                     \
    while (condition)                                \
        if (!cm_loop_once((p)->loop) && (condition)) \
    fail_msg("nothing is left to wait for while %s", #condition)

struct pipes {
    cm_loop *loop;
    cm_mcp_server *server;
    int to, from; /* our ends */
    cm_mcp_request *held;
    int n_cancelled, n_closed;
    bool free_when_closed;
};

static void no_tools(void *user, struct cm_buf *out)
{
    (void)user;
    cm_buf_add_z(out, "[]");
}

static void hold(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args)
{
    struct pipes *p = user;

    (void)args;
    if (cm_str_eq_z(tool, "hold"))
        p->held = rq;
    else
        cm_mcp_request_result(rq, CM_STR("at once"), CM_STR(""), false);
}

static void count_cancel(void *user, cm_mcp_request *rq)
{
    struct pipes *p = user;

    p->n_cancelled++;
    cm_mcp_request_error(rq, 0, "");
    p->held = NULL;
}

static void count_closed(void *user)
{
    struct pipes *p = user;

    p->n_closed++;
    if (p->free_when_closed) {
        cm_mcp_server_free(p->server);
        p->server = NULL;
    }
}

static int open_pipes(void **state)
{
    static const struct cm_mcp_server_ops ops = {no_tools, hold, count_cancel, count_closed};
    static const struct cm_mcp_server_info info = {"codemode", NULL, "0.1.0", NULL};
    struct pipes *p = cm_new(struct pipes);
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(cm_loop_new(&p->loop, NULL), CM_OK);
    p->server = cm_mcp_server_new(p->loop, in[0], out[1], &info, &ops, p);
    p->to = in[1];
    p->from = out[0];
    *state = p;
    return 0;
}

static int close_pipes(void **state)
{
    struct pipes *p = *state;

    cm_mcp_server_free(p->server);
    cm_loop_free(p->loop);
    cm_fd_close(p->to);
    cm_fd_close(p->from);
    free(p);
    return 0;
}

static void put(struct pipes *p, const char *text)
{
    assert_int_equal(cm_write_fd(p->to, text, strlen(text), NULL), CM_OK);
}

static void hang_up(struct pipes *p)
{
    cm_fd_close(p->to);
    p->to = -1;
}

static void run_until_closed(struct pipes *p)
{
    WAIT_WHILE(p, p->n_closed == 0);
}

static void requests_piped_in_at_once_are_all_answered_before_the_end(void **state)
{
    struct pipes *p = *state;
    cm_autofree char *text = NULL;

    put(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\nnonsense\n\xff\n");
    put(p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"now\"}}");
    hang_up(p);
    run_until_closed(p);
    cm_mcp_server_free(p->server);
    p->server = NULL;
    assert_int_equal(cm_read_fd(p->from, 1u << 20, &text, NULL, NULL), CM_OK);
    assert_memory_equal(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 37);
    assert_non_null(strstr(text, "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"line 1, column"));
    assert_non_null(strstr(text, "the line is not UTF-8: byte 0xff"));
    assert_non_null(strstr(text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\","
                                 "\"text\":\"at once\"}]}}\n"));
}

static void a_call_in_flight_is_still_answered_after_the_client_closed_its_half(void **state)
{
    struct pipes *p = *state;
    cm_autofree char *text = NULL;

    put(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}\n");
    WAIT_WHILE(p, !p->held);
    hang_up(p);
    cm_loop_nowait(p->loop);
    cm_loop_nowait(p->loop);
    assert_int_equal(p->n_closed, 0);
    cm_mcp_request_result(cm_steal(&p->held), CM_STR("late"), CM_STR(""), false);
    p->free_when_closed = true;
    run_until_closed(p);
    assert_null(p->server);
    assert_int_equal(p->n_cancelled, 0);
    assert_int_equal(cm_read_fd(p->from, 1u << 20, &text, NULL, NULL), CM_OK);
    assert_non_null(strstr(text, "late"));
}

static void a_client_that_cannot_be_written_to_has_its_calls_cancelled(void **state)
{
    struct pipes *p = *state;

    put(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}\n");
    WAIT_WHILE(p, !p->held);
    cm_fd_close(p->from);
    p->from = -1;
    p->free_when_closed = true;
    /* The first answer finds the pipe closed, the stream's queue or the second says so. */
    put(p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    while (p->n_closed == 0) {
        put(p, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n");
        if (!cm_loop_once(p->loop) && p->n_closed == 0)
            fail_msg("nothing is left to wait for");
    }
    assert_int_equal(p->n_cancelled, 1);
    assert_int_equal(p->n_closed, 1);
}

static void a_client_that_does_not_read_is_not_read_from_either(void **state)
{
    struct pipes *p = *state;
    static const char ask[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}\n";
    cm_autofree char *big = cm_calloc(1, (size_t)20 << 20);

    memset(big, 'x', (size_t)20 << 20);
    put(p, ask);
    WAIT_WHILE(p, !p->held);
    /* 20 MB of answer wait to be written, so the next request stays in the pipe. */
    cm_mcp_request_result(cm_steal(&p->held), cm_str_mk(big, (size_t)20 << 20), CM_STR(""), false);
    put(p, ask);
    for (int i = 0; i < 5; i++)
        cm_loop_nowait(p->loop);
    assert_null(p->held);
    /* Reading makes room, and it is heard again. */
    cm_autofree char *sink = cm_malloc(1u << 16);
    while (!p->held) {
        assert_true(read(p->from, sink, 1u << 16) > 0);
        cm_loop_nowait(p->loop);
    }
    cm_mcp_request_result(cm_steal(&p->held), CM_STR("short"), CM_STR(""), false);
}

#define PIPES(name) cmocka_unit_test_setup_teardown(name, open_pipes, close_pipes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PIPES(requests_piped_in_at_once_are_all_answered_before_the_end),
        PIPES(a_call_in_flight_is_still_answered_after_the_client_closed_its_half),
        PIPES(a_client_that_cannot_be_written_to_has_its_calls_cancelled),
        PIPES(a_client_that_does_not_read_is_not_read_from_either),
    };

    return cmocka_run_group_tests_name("mcp_stdio", tests, NULL, NULL);
}
