/** `fetch` against a server: arguments, addresses at the connection, limits. */
#include "fetch_world.h"

#include "base/fd.h"

/* ---- arguments */

static void arguments_are_read_or_refused_before_anything_is_sent(void **state)
{
    struct world *w = *state;
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/fetch/requests.json", root ? root : ".");
    cm_autofree char *text = NULL;
    cm_auto(yyjson_doc) doc = NULL;
    size_t len = 0, i, max;
    yyjson_val *row;
    int failed = 0;

    open_fetch(w,
               HOSTS({.pattern = "api.example.com"},
                     {.pattern = "read.example.com", .methods = NAMES("get", "head")},
                     {.pattern = "off.wide.test", .off = "no token"}, {.pattern = "*.test"},
                     {.pattern = "wide.test"}, {.pattern = "http://[::1]:8080"}),
               6, NULL);
    assert_int_equal(cm_read_file(path, 1 << 20, &text, &len, NULL), CM_OK);
    assert_int_equal(cm_json_parse(cm_str_mk(text, len), CM_JSON_STRICT, &doc, NULL), CM_OK);
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, row)
    {
        cm_autobuf json = CM_BUF_INIT(65536);
        struct cm_err err = {.message = ""};
        const char *expected = cm_json_get_z(row, "error");
        cm_json_write(&json, cm_json_get(row, "args"));
        long method = cm_connector_find(w->c, cm_json_str(cm_json_get(row, "method")));
        cm_status st =
            cm_connector_check(w->c, (size_t)method, (struct cm_value){.json = cm_buf_str(&json)}, &err);
        if ((st == CM_OK) == !expected && (!expected || strstr(err.message, expected)))
            continue;
        failed++;
        print_message("%s\n  expected %s\n  got      %s\n", cm_buf_str(&json).ptr,
                      expected ? expected : "no error", err.message);
    }
    assert_int_equal(failed, 0);
}

static void a_request_and_its_answer_are_whole(void **state)
{
    struct world *w = *state;
    cm_call *call;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT"}), 1, NULL);
    reply(w, "HTTP/1.1 418 I'm a Teapot\r\nConnection: close\r\nX-One: a\r\nX-One: b\r\nX-Latin: "
             "caf\xe9 caf\xc3\xa9 a\x01z\r\nSet-Cookie: "
             "k=v\r\n\r\n\x01\x02");
    call = begin(w, "post",
                 "{\"body\":\"AP8=\",\"headers\":[[\"X-A\",\"1\"],[\"X-A\",\"2\"]],\"url\":\"http://"
                 "127.1:PORT/a?b#c\"}",
                 "{\"/body\":\"bytes\"}");
    assert_non_null(call);
    WAIT_WHILE(w, !w->seen.n);
    assert_true(sent(w, 0, "POST /a?b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"));
    assert_true(sent(w, 0, "\r\nX-A: 1\r\nX-A: 2\r\n"));
    assert_true(sent(w, 0, "Content-Length: 2\r\n"));
    assert_false(w->seen.failed);
    cm_autofree char *expected =
        with_port(w, "{\"status\":418,\"statusText\":\"I'm a "
                     "Teapot\",\"url\":\"http://127.0.0.1:PORT/a?b\",\"redirected\":false,"
                     "\"headers\":[[\"connection\",\"close\"],[\"x-one\",\"a\"],[\"x-one\",\"b\"],[\"x-"
                     "latin\",\"caf\u00e9 caf\u00c3\u00a9 a z\"],"
                     "[\"set-cookie\",\"k=v\"]],\"body\":\"AQI=\"}");
    assert_string_equal(w->seen.json, expected);
    assert_string_equal(w->seen.marks, "{\"/body\":\"bytes\"}");
    /* No cookie comes back by itself. */
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_false(sent(w, 1, "Cookie"));
}

/* ---- addresses */

static void a_name_that_leads_to_this_machine_is_refused_at_the_connection(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://api.example.com:PORT"}), 1,
               NAMES("api.example.com:PORT:127.0.0.1"));
    ask(w, "get", "{\"url\":\"http://api.example.com:PORT/\"}");
    assert_failed(w, "denied", "http://api.example.com:PORT is not allowed: it leads to a loopback address");
    assert_failed(w, "denied", "codemode.fetch[0]: allowPrivate would change that");
    assert_int_equal(w->peer.n_connections, 0);
}

static void allow_private_opens_what_it_says(void **state)
{
    struct world *w = *state;

    open_fetch(w,
               HOSTS({.pattern = "http://a.example.com:PORT", .allow_private = true},
                     {.pattern = "http://b.example.com:PORT", .ranges = NAMES("10.0.0.0/8", "127.0.0.1")},
                     {.pattern = "http://c.example.com:PORT", .ranges = NAMES("10.0.0.0/8")},
                     {.pattern = "http://d.example.com:PORT", .allow_private = true}),
               4,
               NAMES("a.example.com:PORT:127.0.0.1", "b.example.com:PORT:127.0.0.1",
                     "c.example.com:PORT:127.0.0.1", "d.example.com:PORT:169.254.169.254"));
    reply(w, OK_TEXT);
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://a.example.com:PORT/\"}");
    assert_false(w->seen.failed);
    ask(w, "get", "{\"url\":\"http://b.example.com:PORT/\"}");
    assert_false(w->seen.failed);
    ask(w, "get", "{\"url\":\"http://c.example.com:PORT/\"}");
    assert_failed(w, "denied", "a loopback address");
    ask(w, "get", "{\"url\":\"http://d.example.com:PORT/\"}");
    assert_failed(w, "denied", "the address of a cloud's metadata service");
    assert_int_equal(w->peer.n_connections, 2);
}

static void of_several_addresses_only_the_allowed_are_tried(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://a.example.com:PORT", .ranges = NAMES("127.0.0.1")}), 1,
               NAMES("a.example.com:PORT:127.0.0.2,10.0.0.1,127.0.0.1"));
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://a.example.com:PORT/\"}");
    assert_false(w->seen.failed);
    assert_int_equal(w->peer.n_connections, 1);
}

/* What a name server answers may change between two looks: there is only one that counts, at the socket. */
struct rebinding {
    struct world *w;
    const char *allowed;
    unsigned asked;
    cm_status status;
    int n;
};

static bool only_allowed(void *user, const struct cm_address *a)
{
    struct rebinding *r = user;
    struct cm_address allowed;

    r->asked++;
    return cm_address_parse(r->allowed, &allowed) && memcmp(&allowed, a, sizeof *a) == 0;
}

static void on_rebound(void *user, const struct cm_http_response *response)
{
    struct rebinding *r = user;

    r->status = response->status;
    r->n++;
}

static cm_status go(struct rebinding *r, const char *resolve)
{
    cm_autofree char *url = with_port(r->w, "http://a.example.com:PORT/");
    cm_autofree char *line = with_port(r->w, resolve);
    struct cm_http_spec spec = {.method = "GET",
                                .url = url,
                                .max_body_bytes = 100,
                                .may_connect = only_allowed,
                                .resolve = (const char *const[]){line, NULL}};
    cm_http_request *request = NULL;
    int before = r->n;

    r->asked = 0;
    assert_int_equal(cm_http_start(r->w->http, &spec, on_rebound, r, &request, NULL), CM_OK);
    WAIT_WHILE(r->w, r->n == before);
    return r->status;
}

static void a_name_that_changes_its_address_gains_nothing(void **state)
{
    struct world *w = *state;
    struct rebinding r = {.w = w, .allowed = "127.0.0.1"};

    assert_int_equal(cm_http_new(w->loop, &w->http, NULL), CM_OK);
    reply(w, OK_TEXT);
    assert_int_equal(go(&r, "a.example.com:PORT:127.0.0.1"), CM_OK);
    assert_int_equal(r.asked, 2); /* the socket, and before the request */
    assert_int_equal(go(&r, "a.example.com:PORT:127.0.0.2"), CM_E_DENIED);
    assert_int_equal(w->peer.n_connections, 1);
}

static void a_kept_connection_is_judged_again(void **state)
{
    struct world *w = *state;
    struct rebinding r = {.w = w, .allowed = "127.0.0.1"};

    assert_int_equal(cm_http_new(w->loop, &w->http, NULL), CM_OK);
    w->keep_open = true;
    reply(w, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    reply(w, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_int_equal(go(&r, "a.example.com:PORT:127.0.0.1"), CM_OK);
    r.allowed = "127.0.0.9";
    assert_int_equal(go(&r, "a.example.com:PORT:127.0.0.1"), CM_E_DENIED);
    assert_int_equal(w->n_requests, 1);
}

/* ---- limits */

static void an_answer_beyond_its_limit_is_refused(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT", .max_bytes = 2}), 1, NULL);
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_false(w->seen.failed);
    reply(w, OK_TEXT "!");
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_failed(w, "limit", "http://127.0.0.1:PORT sent more than 2 bytes (codemode.fetch[0]: maxBytes)");
}

static void time_is_counted_over_all_redirects(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT", .timeout_ms = 100}), 1, NULL);
    reply(w, "HTTP/1.1 302 X\r\nConnection: close\r\nLocation: /stalls\r\n\r\n");
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_failed(w, "timeout", "http://127.0.0.1:PORT did not answer within 100 ms, redirects included");
}

static void a_call_that_is_cancelled_leaves_nothing(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT"}), 1, NULL);
    cm_call *call = begin(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}", "");
    WAIT_WHILE(w, !w->n_requests);
    cm_call_cancel(call);
    WAIT_WHILE(w, !w->seen.n);
    assert_failed(w, "cancelled", "fetch.get was cancelled");
}

static void what_cannot_be_a_place_is_an_error_that_names_it(void **state)
{
    const struct {
        struct cm_fetch_host host;
        const char *error;
    } rows[] = {
        {{.pattern = "*"}, "codemode.fetch[3]: '*' would allow every host there is"},
        {{.pattern = "a.test", .methods = NAMES("get", "trace")},
         "codemode.fetch[3].methods: 'trace' is none of get, head"},
        {{.pattern = "a.test", .methods = (const char *const[]){NULL}},
         "codemode.fetch[3].methods: is empty"},
        {{.pattern = "a.test", .ranges = NAMES("10.0.0.1/8")},
         "codemode.fetch[3].allowPrivate: '10.0.0.1/8' has bits behind"},
        {{.pattern = "a.test", .headers = (const struct cm_pair[]){{"Host", "b.test"}}, .n_headers = 1},
         "codemode.fetch[3].headers.Host: is set by the transfer itself"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        struct cm_fetch_host host = rows[i].host;
        struct cm_connector_base base = {.name = "fetch", .origin = "codemode.fetch"};
        struct cm_err err;
        host.at = "codemode.fetch[3]";
        assert_int_equal(cm_connector_fetch(w->loop, &base,
                                            &(struct cm_fetch_spec){.hosts = &host, .n_hosts = 1}, &w->c,
                                            &err),
                         CM_E_CONFIG);
        if (!strstr(err.message, rows[i].error))
            fail_msg("expected '%s', got '%s'", rows[i].error, err.message);
    }
}

int main(void)
{
    /* A proxy of the environment must not be asked: it would look names up itself. */
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    const struct CMUnitTest tests[] = {
        TEST(arguments_are_read_or_refused_before_anything_is_sent),
        TEST(a_request_and_its_answer_are_whole),
        TEST(a_name_that_leads_to_this_machine_is_refused_at_the_connection),
        TEST(allow_private_opens_what_it_says),
        TEST(of_several_addresses_only_the_allowed_are_tried),
        TEST(a_name_that_changes_its_address_gains_nothing),
        TEST(a_kept_connection_is_judged_again),
        TEST(an_answer_beyond_its_limit_is_refused),
        TEST(time_is_counted_over_all_redirects),
        TEST(a_call_that_is_cancelled_leaves_nothing),
        TEST(what_cannot_be_a_place_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
