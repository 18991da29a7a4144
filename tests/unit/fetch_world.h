/**
 * A server on a free port that answers in order what a test gives it, and `fetch` before it. Names are mapped to
 * addresses by the list that curl takes for that; nothing here asks a name server.
 */
#ifndef CM_TESTS_FETCH_WORLD_H
#define CM_TESTS_FETCH_WORLD_H

#include "connector/kinds.h"
#include "net/net.h"

#include <stdint.h>
#include <stdio.h>

#include "http_peer.h"
#include "waiting.h"

#define MAX_SEEN 16

struct world {
    cm_loop *loop;
    cm_connector *c;
    cm_http *http; /* of the tests that go without a connector */
    cm_secrets *secrets;
    struct http_peer peer;
    char *replies[MAX_SEEN]; /* in order of the requests */
    size_t n_replies;
    char *requests[MAX_SEEN];
    size_t n_requests;
    bool keep_open; /* after an answer */
    struct seen seen;
};

/* ---- the server */

static void on_request(void *user)
{
    struct world *w = user;

    assert_true(w->n_requests < MAX_SEEN);
    w->requests[w->n_requests++] = cm_buf_take(&w->peer.got, NULL);
    w->peer.got = CM_BUF_INIT(1 << 20);
    if (w->n_requests <= w->n_replies) /* otherwise it never answers */
        http_peer_say(&w->peer, cm_str_of(w->replies[w->n_requests - 1]), w->keep_open);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    w->secrets = cm_secrets_new();
    http_peer_open(&w->peer, w->loop, on_request, w);
    *state = w;
    return 0;
}

static void forget_talk(struct world *w)
{
    while (w->n_replies)
        free(w->replies[--w->n_replies]);
    while (w->n_requests)
        free(w->requests[--w->n_requests]);
    w->peer.n_connections = 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cm_connector_free(w->c);
    cm_http_free(w->http);
    http_peer_close(&w->peer);
    cm_loop_free(w->loop);
    cm_secrets_free(w->secrets);
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
        cm_buf_addf(&b, "%.*s%u", (int)(at - text), text, w->peer.port);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
