/** The HTTP client against a server on a free port that says exactly what a test gives it. */
#include "net/net.h"

#include <stdint.h>
#include <stdio.h>

#include "http_peer.h"
#include "waiting.h"

struct world {
    cm_loop *loop;
    cm_http *http;
    struct http_peer peer;
    const char *answer; /* NULL: never answers */
    size_t answer_len;
    cm_http_request *request;
    int n;
    cm_status status;
    long code;
    char *error;
    char *body;
    char *headers;
};

static void on_request(void *user)
{
    struct world *w = user;

    if (w->answer)
        http_peer_say(&w->peer, cm_str_mk(w->answer, w->answer_len), false);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    assert_int_equal(cm_http_new(w->loop, &w->http, NULL), CM_OK);
    http_peer_open(&w->peer, w->loop, on_request, w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_http_free(w->http);
    http_peer_close(&w->peer);
    cm_loop_free(w->loop);
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
    cm_autofree char *url = cm_asprintf("http://127.0.0.1:%u%s", w->peer.port, path);

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
    assert_true(cm_str_has_prefix(cm_buf_str(&w->peer.got), CM_STR("PATCH /a/../b?q=%2F HTTP/1.1\r\n")));
    assert_non_null(strstr(w->peer.got.ptr, "\r\nX-Key: v\r\n"));
    assert_non_null(strstr(w->peer.got.ptr, "\r\nX-Empty:\r\n"));
    assert_non_null(strstr(w->peer.got.ptr, "\r\nUser-Agent: codemode/"));
    assert_null(strstr(w->peer.got.ptr, "Expect:"));
    assert_non_null(strstr(w->peer.got.ptr, "\r\n\r\n{\"a\":1}"));
}

static void a_post_without_a_body_says_so(void **state)
{
    struct world *w = *state;

    ANSWER(w, "HTTP/1.1 204 No Content\r\n\r\n");
    talk(w, "/", (struct cm_http_spec){.method = "POST"});
    assert_int_equal(w->code, 204);
    assert_non_null(strstr(w->peer.got.ptr, "Content-Length: 0\r\n"));
    assert_null(strstr(w->peer.got.ptr, "Content-Type"));
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

    http_peer_deafen(&w->peer);
    talk(w, "/x?key=hunter2", (struct cm_http_spec){0});
    assert_int_equal(w->status, CM_E_UNAVAILABLE);
    cm_autofree char *want = cm_asprintf("cannot connect to http://127.0.0.1:%u", w->peer.port);
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
