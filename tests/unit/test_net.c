/** The HTTP client against a server on a free port that says exactly what a test gives it. */
#include "net/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    cm_loop *loop;
    cm_http *http;
    int listen_fd;
    uint16_t port;
    cm_watch *accepting;
    cm_stream *peer;
    int peer_fd;
    const char *answer; /* NULL: never answers */
    size_t answer_len;
    struct cm_buf got;
    cm_http_request *request;
    int n;
    cm_status status;
    long code;
    char *error;
    char *body;
    char *headers;
};

/* A loop with nothing left to wait for is a failure, not a hang. */
#define WAIT_WHILE(w, condition)                     \
    while (condition)                                \
        if (!cm_loop_once((w)->loop) && (condition)) \
    fail_msg("nothing is left to wait for while %s", #condition)

static void peer_data(void *user, struct cm_str bytes)
{
    struct world *w = user;

    cm_buf_add_str(&w->got, bytes);
    char *end = memmem(w->got.ptr, w->got.len, "\r\n\r\n", 4);
    const char *length = strstr(w->got.ptr, "Content-Length: ");
    if (!end || !w->answer)
        return;
    size_t want = length ? strtoul(length + 16, NULL, 10) : 0;
    if (w->got.len < (size_t)(end + 4 - w->got.ptr) + want)
        return;
    (void)cm_stream_write(w->peer, cm_str_mk(w->answer, w->answer_len), NULL);
    assert_int_equal(cm_stream_queued(w->peer), 0);
    shutdown(w->peer_fd, SHUT_WR);
}

static void peer_end(void *user, int eno)
{
    (void)user;
    (void)eno;
}

static const struct cm_stream_events peer_events = {.on_data = peer_data, .on_end = peer_end};

static void on_accept(void *user, unsigned events)
{
    struct world *w = user;
    int fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return;
    cm_stream_free(w->peer);
    cm_buf_clear(&w->got);
    w->peer_fd = fd;
    w->peer = cm_stream_new(w->loop, fd, fd, &peer_events, w);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    assert_int_equal(cm_http_new(w->loop, &w->http, NULL), CM_OK);
    w->got = CM_BUF_INIT(1 << 20);
    w->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(w->listen_fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(w->listen_fd, 16), 0);
    assert_int_equal(getsockname(w->listen_fd, (struct sockaddr *)&a, &len), 0);
    w->port = ntohs(a.sin_port);
    w->accepting = cm_watch_new(w->loop, w->listen_fd, on_accept, w);
    cm_watch_set(w->accepting, CM_WATCH_READ);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_http_free(w->http);
    cm_stream_free(w->peer);
    cm_watch_free(w->accepting);
    cm_loop_free(w->loop);
    close(w->listen_fd);
    cm_buf_done(&w->got);
    free(w->error);
    free(w->body);
    free(w->headers);
    free(w);
    return 0;
}

static void on_answer(void *user, const struct cm_http_response *r)
{
    struct world *w = user;
    struct cm_buf lines = CM_BUF_INIT(1 << 20);

    w->n++;
    w->status = r->status;
    w->code = r->code;
    free(w->error);
    free(w->body);
    free(w->headers);
    w->error = cm_strdup(r->error);
    w->body = cm_memdup_z(r->body.ptr, r->body.len);
    for (const char *const *h = r->headers; *h; h++)
        cm_buf_addf(&lines, "%s\n", *h);
    w->headers = cm_buf_take(&lines, NULL);
}

#define ANSWER(w, text) ((w)->answer = (text), (w)->answer_len = sizeof(text) - 1)

static cm_status ask(struct world *w, const char *path, struct cm_http_spec spec, cm_http_fn fn,
                     struct cm_err *err)
{
    cm_autofree char *url = cm_asprintf("http://127.0.0.1:%u%s", w->port, path);

    spec.method = spec.method ? spec.method : "GET";
    spec.url = url;
    spec.max_body_bytes = spec.max_body_bytes ? spec.max_body_bytes : 1 << 20;
    return cm_http_start(w->http, &spec, fn, w, &w->request, err);
}

static void talk(struct world *w, const char *path, struct cm_http_spec spec)
{
    int before = w->n;

    assert_int_equal(ask(w, path, spec, on_answer, NULL), CM_OK);
    assert_int_equal(w->n, before);
    WAIT_WHILE(w, w->n == before);
    assert_int_equal(w->n, before + 1);
}

static void a_request_arrives_as_it_was_given(void **state)
{
    struct world *w = *state;
    const char *const headers[] = {"X-Key: v", "Content-Type: application/json", "X-Empty: ", NULL};

    ANSWER(w, "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 201 Created\r\nX-Two:  b "
              "\r\nContent-Type: text/plain\r\n\r\nok");
    talk(w, "/a/../b?q=%2F",
         (struct cm_http_spec){.method = "PATCH", .headers = headers, .body = CM_STR("{\"a\":1}")});
    assert_int_equal(w->status, CM_OK);
    assert_int_equal(w->code, 201);
    assert_string_equal(w->body, "ok");
    assert_string_equal(w->headers, "x-two:  b\ncontent-type: text/plain\n");
    assert_true(cm_str_has_prefix(cm_buf_str(&w->got), CM_STR("PATCH /a/../b?q=%2F HTTP/1.1\r\n")));
    assert_non_null(strstr(w->got.ptr, "\r\nX-Key: v\r\n"));
    assert_non_null(strstr(w->got.ptr, "\r\nX-Empty:\r\n"));
    assert_non_null(strstr(w->got.ptr, "\r\nUser-Agent: codemode/"));
    assert_null(strstr(w->got.ptr, "Expect:"));
    assert_non_null(strstr(w->got.ptr, "\r\n\r\n{\"a\":1}"));
}

static void a_post_without_a_body_says_so(void **state)
{
    struct world *w = *state;

    ANSWER(w, "HTTP/1.1 204 No Content\r\n\r\n");
    talk(w, "/", (struct cm_http_spec){.method = "POST"});
    assert_int_equal(w->code, 204);
    assert_non_null(strstr(w->got.ptr, "Content-Length: 0\r\n"));
    assert_null(strstr(w->got.ptr, "Content-Type"));
}

static void a_redirect_is_an_answer_and_not_followed(void **state)
{
    struct world *w = *state;

    ANSWER(w, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n");
    talk(w, "/", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_OK);
    assert_int_equal(w->code, 302);
}

static void a_body_beyond_its_limit_is_refused(void **state)
{
    struct world *w = *state;

    ANSWER(w, "HTTP/1.1 200 OK\r\n\r\n0123456789");
    talk(w, "/", (struct cm_http_spec){.max_body_bytes = 9});
    assert_int_equal(w->status, CM_E_LIMIT);
    talk(w, "/", (struct cm_http_spec){.max_body_bytes = 10});
    assert_int_equal(w->status, CM_OK);
}

static void headers_beyond_their_limit_are_refused(void **state)
{
    struct world *w = *state;
    struct cm_buf b = CM_BUF_INIT(1 << 20);

    cm_buf_add_z(&b, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 201; i++)
        cm_buf_addf(&b, "X-%d: 1\r\n", i);
    cm_buf_add_z(&b, "\r\n");
    w->answer = b.ptr;
    w->answer_len = b.len;
    talk(w, "/", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_E_LIMIT);
    cm_buf_done(&b);
}

static void a_server_that_lies_about_its_length_is_an_error(void **state)
{
    struct world *w = *state;

    ANSWER(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    talk(w, "/", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_E_UNAVAILABLE);
    ANSWER(w, "garbage\r\n\r\n");
    talk(w, "/", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_E_UNAVAILABLE);
}

static void a_server_that_stalls_meets_the_time_limit_and_no_message_holds_the_query(void **state)
{
    struct world *w = *state;

    talk(w, "/x?key=hunter2", (struct cm_http_spec){.timeout_ms = 50});
    assert_int_equal(w->status, CM_E_TIMEOUT);
    assert_null(strstr(w->error, "hunter2"));
    assert_non_null(strstr(w->error, "127.0.0.1"));
    assert_non_null(strstr(w->error, "50 ms"));
}

static void a_refused_connection_names_the_host(void **state)
{
    struct world *w = *state;

    cm_watch_free(w->accepting);
    w->accepting = NULL;
    close(w->listen_fd);
    w->listen_fd = -1;
    talk(w, "/x?key=hunter2", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_E_UNAVAILABLE);
    cm_autofree char *want = cm_asprintf("cannot connect to http://127.0.0.1:%u", w->port);
    assert_string_equal(w->error, want);
}

static void what_is_no_http_request_is_refused_before_anything_is_sent(void **state)
{
    struct world *w = *state;
    static const char *const urls[] = {"file:///etc/passwd", "gopher://x/", "/relative", "http://", ""};
    const char *const split[] = {"X-A: 1\r\nX-B: 2", NULL};
    const char *const nameless[] = {": x", NULL};
    struct cm_err err;

    for (size_t i = 0; i < CM_ARRAY_LEN(urls); i++) {
        struct cm_http_spec spec = {.method = "GET", .url = urls[i], .max_body_bytes = 10};
        assert_int_equal(cm_http_start(w->http, &spec, on_answer, w, &w->request, &err), CM_E_INVALID);
    }
    assert_int_equal(ask(w, "/", (struct cm_http_spec){.headers = split}, on_answer, &err), CM_E_INVALID);
    assert_int_equal(ask(w, "/", (struct cm_http_spec){.headers = nameless}, on_answer, &err), CM_E_INVALID);
    assert_int_equal(w->n, 0);
}

static void free_client(void *user, const struct cm_http_response *r)
{
    struct world *w = user;

    on_answer(w, r);
    cm_http_free(w->http);
    w->http = NULL;
}

static void a_callback_may_cancel_and_free(void **state)
{
    struct world *w = *state;

    assert_int_equal(ask(w, "/never", (struct cm_http_spec){0}, on_answer, NULL), CM_OK);
    cm_http_cancel(w->request);
    ANSWER(w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(ask(w, "/", (struct cm_http_spec){0}, free_client, NULL), CM_OK);
    WAIT_WHILE(w, w->http);
    assert_int_equal(w->n, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest all[] = {
        T(a_request_arrives_as_it_was_given),
        T(a_post_without_a_body_says_so),
        T(a_redirect_is_an_answer_and_not_followed),
        T(a_body_beyond_its_limit_is_refused),
        T(headers_beyond_their_limit_are_refused),
        T(a_server_that_lies_about_its_length_is_an_error),
        T(a_server_that_stalls_meets_the_time_limit_and_no_message_holds_the_query),
        T(a_refused_connection_names_the_host),
        T(what_is_no_http_request_is_refused_before_anything_is_sent),
        T(a_callback_may_cancel_and_free),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
