/** `fetch` that is sent on: each place is judged anew, and what goes along. */
#include "fetch_world.h"

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
        {"//0x7f.1:PORT/", "denied", "http://127.0.0.1:PORT is not allowed"},
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
        assert_int_equal(w->peer.n_connections, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_redirect_is_judged_like_any_other_place),
        TEST(redirects_end),
        TEST(a_program_may_ask_not_to_be_sent_on),
        TEST(methods_change_as_in_browsers),
        TEST(credentials_of_the_host_replace_the_programs),
        TEST(credentials_do_not_follow_a_redirect_elsewhere),
        TEST(the_programs_own_authorization_stays_where_it_was_sent),
        TEST(a_secret_that_comes_back_tells_the_program_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
