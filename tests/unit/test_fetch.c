/**
 * `fetch` against a server on a free port: what is sent where, and what is refused before or at the connection.
 * Names are mapped to addresses by the list that curl takes for that; nothing here asks a name server.
 */
#include "base/fd.h"
#include "base/limits.h"
#include "connector/kinds.h"
#include "net/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "waiting.h"

#define MAX_SEEN 16

struct world {
    cm_loop *loop;
    cm_connector *c;
    cm_http *http; /* of the tests that go without a connector */
    cm_secrets *secrets;
    int listen_fd;
    uint16_t port;
    cm_watch *accepting;
    cm_stream *peer;
    int peer_fd;
    struct cm_buf got;
    char *replies[MAX_SEEN]; /* in order of the requests */
    size_t n_replies;
    char *requests[MAX_SEEN];
    size_t n_requests;
    size_t n_connections;
    bool keep_open; /* after an answer */
    struct seen seen;
};

/* ---- the server */

static void peer_data(void *user, struct cm_str bytes)
{
    struct world *w = user;

    cm_buf_add_str(&w->got, bytes);
    char *end = memmem(w->got.ptr, w->got.len, "\r\n\r\n", 4);
    const char *length = end ? strcasestr(w->got.ptr, "Content-Length: ") : NULL;
    if (!end || w->got.len < (size_t)(end + 4 - w->got.ptr) + (length ? strtoul(length + 16, NULL, 10) : 0))
        return;
    assert_true(w->n_requests < MAX_SEEN);
    w->requests[w->n_requests++] = cm_buf_take(&w->got, NULL);
    w->got = CM_BUF_INIT(1 << 20);
    if (w->n_requests > w->n_replies)
        return; /* never answers */
    (void)cm_stream_write(w->peer, cm_str_of(w->replies[w->n_requests - 1]), NULL);
    if (!w->keep_open)
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
    w->n_connections++;
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
    w->got = CM_BUF_INIT(1 << 20);
    w->secrets = cm_secrets_new();
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

static void forget_talk(struct world *w)
{
    while (w->n_replies)
        free(w->replies[--w->n_replies]);
    while (w->n_requests)
        free(w->requests[--w->n_requests]);
    w->n_connections = 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_connector_free(w->c);
    cm_http_free(w->http);
    cm_stream_free(w->peer);
    cm_watch_free(w->accepting);
    cm_loop_free(w->loop);
    cm_secrets_free(w->secrets);
    close(w->listen_fd);
    cm_buf_done(&w->got);
    forget_talk(w);
    free(w->seen.json);
    free(w->seen.marks);
    free(w);
    return 0;
}

/* PORT is the server's. */
static char *with_port(const struct world *w, const char *text)
{
    cm_autobuf b = CM_BUF_INIT(1 << 20);

    for (const char *at; (at = strstr(text, "PORT")); text = at + 4)
        cm_buf_addf(&b, "%.*s%u", (int)(at - text), text, w->port);
    cm_buf_add_z(&b, text);
    return cm_buf_take(&b, NULL);
}

static void reply(struct world *w, const char *text)
{
    w->replies[w->n_replies++] = with_port(w, text);
}

#define OK_TEXT "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok"

/* ---- the connector */

static void open_fetch(struct world *w, const struct cm_fetch_host *hosts, size_t n,
                       const char *const *resolve)
{
    struct cm_connector_base base = {.name = "fetch", .origin = "codemode.fetch", .secrets = w->secrets};
    struct cm_fetch_host own[8] = {{0}};
    char *keep[32] = {NULL};
    const char *lines[8] = {NULL};
    size_t k = 0;
    struct cm_fetch_spec spec = {.hosts = own, .n_hosts = n, .resolve = lines};

    for (size_t i = 0; i < n; i++) {
        own[i] = hosts[i];
        own[i].at = "codemode.fetch[0]";
        own[i].pattern = keep[k++] = with_port(w, hosts[i].pattern);
    }
    for (size_t i = 0; resolve && resolve[i]; i++)
        lines[i] = keep[k++] = with_port(w, resolve[i]);
    assert_int_equal(cm_connector_fetch(w->loop, &base, &spec, &w->c, NULL), CM_OK);
    while (k)
        free(keep[--k]);
    cm_connector_ensure(w->c, NULL, NULL);
    assert_int_equal(cm_connector_state(w->c), CM_CONN_READY);
}

static cm_call *begin(struct world *w, const char *method, const char *args, const char *marks)
{
    cm_autofree char *json = with_port(w, args);
    long i = cm_connector_find(w->c, cm_str_of(method));
    cm_call *call = NULL;

    assert_true(i >= 0);
    cm_connector_call(w->c, (size_t)i, (struct cm_value){cm_str_of(json), cm_str_of(marks)}, take, &w->seen,
                      &call);
    return call;
}

static void ask(struct world *w, const char *method, const char *args)
{
    int before = w->seen.n;

    (void)begin(w, method, args, "");
    WAIT_WHILE(w, w->seen.n == before);
}

static bool sent(const struct world *w, size_t i, const char *line)
{
    cm_autofree char *text = with_port(w, line);

    return i < w->n_requests && strcasestr(w->requests[i], text);
}

static void assert_failed(const struct world *w, const char *code, const char *part)
{
    cm_autofree char *member = cm_asprintf("\"code\":\"%s\"", code);
    cm_autofree char *text = with_port(w, part);

    if (!w->seen.failed || !strstr(w->seen.json, member) || !strstr(w->seen.json, text))
        fail_msg("expected a failure with code %s and '%s', got %s", code, text, w->seen.json);
}

#define HOSTS(...)                 \
    (const struct cm_fetch_host[]) \
    {                              \
        __VA_ARGS__                \
    }
#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

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
             "caf\xe9\r\nSet-Cookie: "
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
                     "latin\",\"caf\u00e9\"],"
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
    assert_int_equal(w->n_connections, 0);
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
    assert_int_equal(w->n_connections, 2);
}

static void of_several_addresses_only_the_allowed_are_tried(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://a.example.com:PORT", .ranges = NAMES("127.0.0.1")}), 1,
               NAMES("a.example.com:PORT:127.0.0.2,10.0.0.1,127.0.0.1"));
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://a.example.com:PORT/\"}");
    assert_false(w->seen.failed);
    assert_int_equal(w->n_connections, 1);
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
    assert_int_equal(w->n_connections, 1);
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

/* ---- redirects */

static void a_redirect_is_judged_like_any_other_place(void **state)
{
    static const struct {
        const char *to, *code, *error;
    } rows[] = {
        {"http://evil.example/", "denied",
         "http://a.example.com:PORT sent on with 302: http://evil.example is not allowed"},
        {"https://a.example.com:PORT/", "denied", "allows that host as http://a.example.com:PORT"},
        {"http://b.example.com:PORT/", "denied",
         "http://b.example.com:PORT is not allowed: it leads to an address of a private network"},
        {"http://127.0.0.1:PORT/", "denied", "http://127.0.0.1:PORT is not allowed"},
        {"http://0x7f.1:PORT/", "denied", "http://127.0.0.1:PORT is not allowed"},
        {"//169.254.169.254/latest/meta-data/", "denied", "http://169.254.169.254 is not allowed"},
        {"file:///etc/passwd", "unavailable", "is not of a scheme that is spoken"},
        {"http://u:p@a.example.com:PORT/", "unavailable", "holds a user or a password"},
        {"http://a.example.com:PORT\\@evil.example/", "unavailable", "holds a backslash"},
    };
    struct world *w = *state;

    open_fetch(w,
               HOSTS({.pattern = "http://a.example.com:PORT", .ranges = NAMES("127.0.0.1")},
                     {.pattern = "http://b.example.com:PORT"}),
               2, NAMES("a.example.com:PORT:127.0.0.1", "b.example.com:PORT:10.0.0.1"));
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autofree char *text =
            cm_asprintf("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: %s\r\n\r\n", rows[i].to);
        forget_talk(w);
        reply(w, text);
        ask(w, "get", "{\"url\":\"http://a.example.com:PORT/\"}");
        assert_failed(w, rows[i].code, rows[i].error);
        assert_int_equal(w->n_connections, 1);
    }
}

static void redirects_end(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT"}), 1, NULL);
    for (int i = 0; i < 11; i++)
        reply(w, "HTTP/1.1 307 Again\r\nConnection: close\r\nLocation: /again\r\n\r\n");
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_failed(w, "limit", "http://127.0.0.1:PORT sent on once more after 10 redirects");
    assert_int_equal(w->n_requests, 11);
    forget_talk(w);
    reply(w, "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: x?y#z\r\n\r\n");
    reply(w, OK_TEXT);
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/a/b\"}");
    assert_true(sent(w, 1, "GET /a/x?y HTTP/1.1\r\n"));
    assert_non_null(strstr(w->seen.json, "/a/x?y\",\"redirected\":true"));
}

static void a_program_may_ask_not_to_be_sent_on(void **state)
{
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT"}), 1, NULL);
    reply(w, "HTTP/1.1 301 Moved\r\nConnection: close\r\nLocation: http://evil.example/\r\n\r\nthere");
    ask(w, "get", "{\"redirect\":\"manual\",\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_false(w->seen.failed);
    assert_non_null(strstr(w->seen.json, "{\"status\":301,"));
    assert_non_null(strstr(w->seen.json, "[\"location\",\"http://evil.example/\"]"));
    reply(w, "HTTP/1.1 301 Moved\r\nConnection: close\r\nLocation: /x\r\n\r\nthere");
    ask(w, "get", "{\"redirect\":\"error\",\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_failed(
        w, "unavailable",
        "http://127.0.0.1:PORT answered 301, a redirect, and redirect: \\\"error\\\" was asked for");
    reply(w, "HTTP/1.1 302 Found\r\nConnection: close\r\n\r\nno place");
    ask(w, "get", "{\"url\":\"http://127.0.0.1:PORT/\"}");
    assert_non_null(strstr(w->seen.json, "{\"status\":302,"));
    assert_int_equal(w->n_requests, 3);
}

static void methods_change_as_in_browsers(void **state)
{
    static const struct {
        int code;
        const char *method, *then;
        bool body;
    } rows[] = {
        {301, "post", "GET", false},     {302, "post", "GET", false},    {303, "post", "GET", false},
        {307, "post", "POST", true},     {308, "post", "POST", true},    {301, "put", "PUT", true},
        {302, "delete", "DELETE", true}, {303, "put", "GET", false},     {303, "delete", "GET", false},
        {307, "patch", "PATCH", true},   {303, "head", "HEAD", false},   {303, "get", "GET", false},
        {301, "head", "HEAD", false},    {303, "options", "GET", false},
    };
    struct world *w = *state;

    open_fetch(w, HOSTS({.pattern = "http://127.0.0.1:PORT"}), 1, NULL);
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        bool may_have = !cm_z_eq(rows[i].method, "get") && !cm_z_eq(rows[i].method, "head");
        cm_autofree char *text =
            cm_asprintf("HTTP/1.1 %d X\r\nConnection: close\r\nLocation: /then\r\n\r\n", rows[i].code);
        cm_autofree char *line = cm_asprintf("%s /then HTTP/1.1\r\n", rows[i].then);
        cm_autofree char *args =
            cm_asprintf("{%s\"headers\":[[\"Content-Type\",\"text/x\"],[\"X-Keep\",\"1\"]],\"url\":"
                        "\"http://127.0.0.1:PORT/\"}",
                        may_have ? "\"body\":\"the body\"," : "");
        forget_talk(w);
        reply(w, text);
        reply(w, OK_TEXT);
        ask(w, rows[i].method, args);
        assert_int_equal(w->n_requests, 2);
        assert_true(sent(w, 1, line));
        assert_true(sent(w, 1, "X-Keep: 1\r\n"));
        assert_int_equal(sent(w, 1, "the body"), rows[i].body);
        if (may_have)
            assert_int_equal(sent(w, 1, "Content-Type: text/x"), rows[i].body);
    }
}

/* ---- credentials */

static const struct cm_pair token[] = {{"Authorization", "Bearer hunter2-hunter2"}, {"X-Team", "blue"}};
static const struct cm_pair others[] = {{"X-Key", "other-secret"}};

static void open_two(struct world *w)
{
    cm_secrets_add(w->secrets, CM_STR("hunter2-hunter2"), "token");
    open_fetch(
        w,
        HOSTS({.pattern = "http://*.a.test:PORT", .allow_private = true, .headers = token, .n_headers = 2},
              {.pattern = "http://b.test:PORT", .allow_private = true, .headers = others, .n_headers = 1}),
        2, NAMES("one.a.test:PORT:127.0.0.1", "two.a.test:PORT:127.0.0.1", "b.test:PORT:127.0.0.1"));
}

static void credentials_of_the_host_replace_the_programs(void **state)
{
    struct world *w = *state;

    open_two(w);
    reply(w, OK_TEXT);
    ask(w, "get",
        "{\"headers\":[[\"authorization\",\"mine\"],[\"X-Own\",\"1\"],[\"x-team\",\"red\"]],\"url\":\"http://"
        "one.a.test:PORT/\"}");
    assert_true(sent(w, 0, "Authorization: Bearer hunter2-hunter2\r\n"));
    assert_true(sent(w, 0, "X-Team: blue\r\n"));
    assert_true(sent(w, 0, "X-Own: 1\r\n"));
    assert_false(sent(w, 0, "mine"));
    assert_false(sent(w, 0, "red\r\n"));
    reply(w, OK_TEXT);
    ask(w, "get", "{\"headers\":[[\"Authorization\",\"mine\"]],\"url\":\"http://b.test:PORT/\"}");
    assert_true(sent(w, 1, "X-Key: other-secret\r\n"));
    assert_true(sent(w, 1, "Authorization: mine\r\n"));
    assert_false(sent(w, 1, "hunter2"));
}

static void credentials_do_not_follow_a_redirect_elsewhere(void **state)
{
    static const char *const elsewhere[] = {"http://b.test:PORT/", "http://two.a.test:PORT/"};
    struct world *w = *state;

    open_two(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(elsewhere); i++) {
        cm_autofree char *text =
            cm_asprintf("HTTP/1.1 307 X\r\nConnection: close\r\nLocation: %s\r\n\r\n", elsewhere[i]);
        forget_talk(w);
        reply(w, "HTTP/1.1 307 X\r\nConnection: close\r\nLocation: /same\r\n\r\n");
        reply(w, text);
        reply(w, "HTTP/1.1 307 X\r\nConnection: close\r\nLocation: http://one.a.test:PORT/back\r\n\r\n");
        reply(w, OK_TEXT);
        ask(w, "post",
            "{\"body\":\"b\",\"headers\":[[\"Cookie\",\"k=v\"],[\"X-Own\",\"1\"]],\"url\":\"http://"
            "one.a.test:PORT/\"}");
        assert_int_equal(w->n_requests, 4);
        assert_true(sent(w, 0, "hunter2") && sent(w, 0, "Cookie: k=v"));
        assert_true(sent(w, 1, "POST /same") && sent(w, 1, "hunter2") && sent(w, 1, "Cookie: k=v"));
        /* Nor do those of the other place go there: it was not the program that addressed it. Nor do they come back. */
        for (size_t k = 2; k < 4; k++) {
            assert_true(sent(w, k, "X-Own: 1\r\n"));
            assert_false(sent(w, k, "Authorization") || sent(w, k, "Cookie") || sent(w, k, "X-Key") ||
                         sent(w, k, "X-Team"));
        }
    }
}

static void the_programs_own_authorization_stays_where_it_was_sent(void **state)
{
    struct world *w = *state;

    open_two(w);
    reply(w, "HTTP/1.1 302 X\r\nConnection: close\r\nLocation: http://one.a.test:PORT/\r\n\r\n");
    reply(w, OK_TEXT);
    ask(w, "get",
        "{\"headers\":[[\"Authorization\",\"mine\"],[\"cookie\",\"k=v\"]],\"url\":\"http://b.test:PORT/\"}");
    assert_true(sent(w, 0, "Authorization: mine"));
    assert_false(sent(w, 1, "mine") || sent(w, 1, "k=v") || sent(w, 1, "hunter2") ||
                 sent(w, 1, "other-secret"));
}

static void a_secret_that_comes_back_tells_the_program_nothing(void **state)
{
    struct world *w = *state;

    open_two(w);
    reply(w, "HTTP/1.1 200 hunter2-hunter2\r\nConnection: close\r\nX-Echo: Bearer hunter2-hunter2\r\n\r\nyou "
             "sent hunter2-hunter2");
    ask(w, "get", "{\"url\":\"http://one.a.test:PORT/?hunter2-hunter2\"}");
    assert_false(w->seen.failed);
    assert_null(strstr(w->seen.json, "hunter2"));
    /* "you sent [secret token]" */
    assert_non_null(strstr(w->seen.json, "\"body\":\"eW91IHNlbnQgW3NlY3JldCB0b2tlbl0=\""));
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
        TEST(a_redirect_is_judged_like_any_other_place),
        TEST(redirects_end),
        TEST(a_program_may_ask_not_to_be_sent_on),
        TEST(methods_change_as_in_browsers),
        TEST(credentials_of_the_host_replace_the_programs),
        TEST(credentials_do_not_follow_a_redirect_elsewhere),
        TEST(the_programs_own_authorization_stays_where_it_was_sent),
        TEST(a_secret_that_comes_back_tells_the_program_nothing),
        TEST(an_answer_beyond_its_limit_is_refused),
        TEST(time_is_counted_over_all_redirects),
        TEST(a_call_that_is_cancelled_leaves_nothing),
        TEST(what_cannot_be_a_place_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
