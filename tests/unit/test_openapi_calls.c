/** An OpenAPI connector against a server on a free port that answers exactly what a test gives it. */
#include "connector/kinds.h"

#include "base/fd.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "http_peer.h"
#include "waiting.h"

struct world {
    cm_loop *loop;
    cm_connector *c;
    cm_secrets *secrets;
    char spec_path[64];
    struct http_peer peer;
    const char *answer; /* NULL: never answers */
    size_t answer_len;
    int ready;
    struct seen seen;
};

static const char spec_text[] =
    "openapi: 3.1.0\n"
    "info: {title: Things, version: '1', description: About things.}\n"
    "servers: [{url: /}]\n"
    "paths:\n"
    "  /thing/{id}: {get: {operationId: thing, parameters: [{name: id, in: path}]}, head: {}}\n"
    "  /bad: {get: {parameters: [{$ref: '#/nowhere'}]}}\n";

static void on_request(void *user)
{
    struct world *w = user;

    if (w->answer)
        http_peer_say(&w->peer, cm_str_mk(w->answer, w->answer_len), false);
}

static void on_ready(void *user, cm_connector *c)
{
    struct world *w = user;

    (void)c;
    w->ready++;
}

static void make(struct world *w, const char *spec_path, const char *base_url)
{
    static const struct cm_pair headers[] = {{"X-Key", "hunter2-hunter2"}};
    struct cm_openapi_spec spec = {
        .spec_path = spec_path, .base_url = base_url, .headers = headers, .n_headers = 1};

    w->c = cm_connector_openapi(w->loop, &(struct cm_connector_base){.name = "things", .secrets = w->secrets},
                                &spec);
    cm_connector_ensure(w->c, on_ready, w);
    WAIT_WHILE(w, !w->ready);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    w->secrets = cm_secrets_new();
    cm_secrets_add(w->secrets, CM_STR("hunter2-hunter2"), "KEY");
    http_peer_open(&w->peer, w->loop, on_request, w);
    (void)snprintf(w->spec_path, sizeof w->spec_path, "/tmp/codemode-test-XXXXXX");
    cm_autoclose int fd = mkstemp(w->spec_path);
    assert_int_equal(cm_write_fd(fd, spec_text, sizeof spec_text - 1, NULL), CM_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_connector_free(w->c);
    http_peer_close(&w->peer);
    cm_loop_free(w->loop);
    unlink(w->spec_path);
    cm_secrets_free(w->secrets);
    free(w->seen.json);
    free(w->seen.marks);
    free(w);
    return 0;
}

static void make_here(struct world *w)
{
    cm_autofree char *base = cm_asprintf("http://127.0.0.1:%u/", w->peer.port);

    make(w, w->spec_path, base);
    if (cm_connector_state(w->c) != CM_CONN_READY)
        fail_msg("%s", cm_connector_error(w->c));
}

static cm_call *begin(struct world *w, const char *method, const char *args)
{
    long i = cm_connector_find(w->c, cm_str_of(method));
    cm_call *k = NULL;

    assert_true(i >= 0);
    cm_connector_call(w->c, (size_t)i, (struct cm_value){cm_str_of(args), {NULL, 0}}, take, &w->seen, &k);
    return k;
}

static void an_answer_becomes_data_or_a_failure(void **state)
{
    struct world *w = *state;
    static const struct {
        struct cm_str answer;
        bool failed;
        const char *json;
        const char *marks;
    } cases[] = {
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: application/json; "
                "charset=utf-8\r\n\r\n{\"b\":12345678901234567890,\"a\":1}"),
         false, "{\"b\":\"12345678901234567890\",\"a\":1}", "{\"/b\":\"bigint\"}"},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: application/hal+json\r\n\r\n[]"), false, "[]", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\n\r\n[1]"), false, "[1]", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n[1]"), false, "\"[1]\"", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=ISO-8859-1\r\n\r\n\xfc"), false,
         "\"\xc3\xbc\"", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89P\0"), false, "\"iVAA\"",
         "{\"\":\"bytes\"}"},
        {CM_STR("HTTP/1.1 204 No Content\r\n\r\n"), false, "", NULL},
        {CM_STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), false, "", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"key\":\"hunter2-hunter2\"}"),
         false, "{\"key\":\"[secret KEY]\"}", NULL},
        {CM_STR("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{oops"), true, NULL, NULL},
        {CM_STR("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nRetry-After: "
                "7\r\n\r\n{\"message\":\"no such thing\"}"),
         true,
         "{\"name\":\"Error\",\"message\":\"404 Not Found: no such thing\",\"code\":\"http\",\"status\":404,"
         "\"body\":{\"message\":\"no such thing\"},\"headers\":{\"retry-after\":\"7\"}}",
         "{\"\":\"error\"}"},
        {CM_STR("HTTP/1.1 500 x\r\nContent-Type: "
                "application/problem+json\r\n\r\n{\"title\":\"t\",\"detail\":\"d\\nline\"}"),
         true,
         "{\"name\":\"Error\",\"message\":\"500 Internal Server Error: d "
         "line\",\"code\":\"http\",\"status\":500,"
         "\"body\":{\"title\":\"t\",\"detail\":\"d\\nline\"}}",
         NULL},
        {CM_STR("HTTP/1.1 400 x\r\nContent-Type: text/plain\r\n\r\nbad key hunter2-hunter2"), true,
         "{\"name\":\"Error\",\"message\":\"400 Bad Request: bad key [secret "
         "KEY]\",\"code\":\"http\",\"status\":400,"
         "\"body\":\"bad key [secret KEY]\"}",
         NULL},
        {CM_STR("HTTP/1.1 302 x\r\nLocation: http://other.example/x?token=1\r\n\r\n"), true,
         "{\"name\":\"Error\",\"message\":\"302 Found: the service sends on to 'http://other.example/x', "
         "which is not "
         "followed\",\"code\":\"http\",\"status\":302}",
         NULL},
    };

    make_here(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(cases); i++) {
        int before = w->seen.n;
        w->answer = cases[i].answer.ptr;
        w->answer_len = cases[i].answer.len;
        (void)begin(w, "thing", "{\"id\":\"a\"}");
        WAIT_WHILE(w, w->seen.n == before);
        assert_true(w->seen.failed == cases[i].failed);
        if (cases[i].json)
            assert_string_equal(w->seen.json, cases[i].json);
        if (cases[i].marks)
            assert_string_equal(w->seen.marks, cases[i].marks);
    }
    assert_true(cm_str_has_prefix(cm_buf_str(&w->peer.got), CM_STR("GET /thing/a HTTP/1.1\r\n")));
    assert_non_null(strstr(w->peer.got.ptr, "\r\nX-Key: hunter2-hunter2\r\n"));
    assert_non_null(strstr(w->peer.got.ptr, "\r\nAccept: application/json"));
}

static void a_large_failure_is_cut_and_says_how_large_it_was(void **state)
{
    struct world *w = *state;
    cm_autobuf b = CM_BUF_INIT(1 << 20);

    cm_buf_add_z(&b, "HTTP/1.1 422 x\r\nContent-Type: application/json\r\n\r\n{\"message\":\"");
    for (int i = 0; i < 2000; i++)
        cm_buf_add_z(&b, "many ");
    cm_buf_add_z(&b, "\"}");
    w->answer = b.ptr;
    w->answer_len = b.len;
    make_here(w);
    (void)begin(w, "thing", "{\"id\":\"a\"}");
    WAIT_WHILE(w, w->seen.n == 0);
    assert_true(w->seen.failed);
    assert_true(strlen(w->seen.json) < 6000);
    assert_non_null(strstr(w->seen.json, "\"bodyBytes\":10014"));
}

static void bad_arguments_reach_no_server(void **state)
{
    struct world *w = *state;

    make_here(w);
    (void)begin(w, "thing", "{\"id\":\"..\"}");
    WAIT_WHILE(w, w->seen.n == 0);
    assert_true(w->seen.failed);
    assert_non_null(strstr(w->seen.json, "\"code\":\"arguments\""));
    assert_null(w->peer.stream);
}

static void a_cancelled_call_closes_its_connection(void **state)
{
    struct world *w = *state;

    make_here(w);
    cm_call *k = begin(w, "thing", "{\"id\":\"a\"}");
    WAIT_WHILE(w, !w->peer.got.len);
    cm_call_cancel(k);
    WAIT_WHILE(w, w->seen.n == 0);
    assert_non_null(strstr(w->seen.json, "\"code\":\"cancelled\""));
    (void)begin(w, "thing", "{\"id\":\"b\"}");
    cm_connector_free(w->c);
    w->c = NULL;
    assert_int_equal(w->seen.n, 2);
}

static void what_was_left_out_is_a_warning_and_the_rest_works(void **state)
{
    struct world *w = *state;
    const char *const *warnings = NULL;
    const struct cm_method *methods = NULL;

    make_here(w);
    assert_string_equal(cm_connector_instructions(w->c), "Things\n\nAbout things.");
    assert_int_equal(cm_connector_methods(w->c, &methods), 2);
    assert_int_equal(cm_connector_warnings(w->c, &warnings), 1);
    assert_string_equal(
        warnings[0], "things: GET /bad is left out: a parameter refers to '#/nowhere', which leads nowhere");
}

static void a_service_without_an_address_asks_for_base_url(void **state)
{
    struct world *w = *state;

    make(w, w->spec_path, NULL);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_non_null(strstr(cm_connector_error(w->c), "set baseUrl"));
}

static void a_missing_description_is_named(void **state)
{
    struct world *w = *state;

    make(w, "/nowhere/pets.yaml", "http://127.0.0.1:1");
    assert_int_equal(cm_connector_state(w->c), CM_CONN_FAILED);
    assert_non_null(strstr(cm_connector_error(w->c), "/nowhere/pets.yaml"));
}

static void a_connector_may_be_freed_while_its_description_is_read(void **state)
{
    struct world *w = *state;

    w->c = cm_connector_openapi(w->loop, &(struct cm_connector_base){.name = "x"},
                                &(struct cm_openapi_spec){.spec_path = w->spec_path});
    cm_connector_ensure(w->c, on_ready, w);
    cm_connector_free(w->c);
    w->c = NULL;
    cm_loop_nowait(w->loop);
    assert_int_equal(w->ready, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest all[] = {
        T(an_answer_becomes_data_or_a_failure),
        T(a_large_failure_is_cut_and_says_how_large_it_was),
        T(bad_arguments_reach_no_server),
        T(a_cancelled_call_closes_its_connection),
        T(what_was_left_out_is_a_warning_and_the_rest_works),
        T(a_service_without_an_address_asks_for_base_url),
        T(a_missing_description_is_named),
        T(a_connector_may_be_freed_while_its_description_is_read),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
