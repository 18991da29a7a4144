/** JSON-RPC without a carrier, and lines: what is paired, refused, forgotten; what arrives in pieces, too
 * long or broken. */
#include "base/limits.h"
#include "rpc/lines.h"
#include "rpc/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct peer {
    cm_rpc *rpc;
    struct cm_buf sent; /* one message a line */
    struct cm_buf seen; /* one event a line */
    bool broken;        /* the carrier refuses to send */
    bool free_in_request;
    int n_replies;
};

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    struct peer *p = user;

    if (p->broken)
        return cm_err_set(err, CM_E_IO, "the pipe is closed");
    cm_lines_format(&p->sent, message);
    return CM_OK;
}

static void on_request(void *user, struct cm_str id, struct cm_str method, yyjson_val *params)
{
    struct peer *p = user;

    cm_buf_addf(&p->seen, "request %.*s %.*s ", CM_STR_ARG(id), CM_STR_ARG(method));
    if (params)
        cm_json_write(&p->seen, params);
    cm_buf_add_char(&p->seen, '\n');
    if (p->free_in_request) {
        cm_rpc_free(p->rpc);
        p->rpc = NULL;
    }
}

static void on_notification(void *user, struct cm_str method, yyjson_val *params)
{
    struct peer *p = user;

    cm_buf_addf(&p->seen, "notification %.*s ", CM_STR_ARG(method));
    if (params)
        cm_json_write(&p->seen, params);
    cm_buf_add_char(&p->seen, '\n');
}

static void on_garbage(void *user, struct cm_str text, const struct cm_err *why)
{
    struct peer *p = user;

    cm_buf_addf(&p->seen, "garbage %.*s (%s)\n", CM_STR_ARG(text), why->message);
}

static void on_reply(void *user, const struct cm_rpc_reply *reply)
{
    struct peer *p = user;

    p->n_replies++;
    cm_buf_addf(&p->seen, "reply %s %d '%s' ", cm_status_name(reply->status), reply->code, reply->message);
    if (reply->result)
        cm_json_write(&p->seen, reply->result);
    cm_buf_add_char(&p->seen, '\n');
}

static int set_up_as(void **state, bool serving)
{
    const struct cm_rpc_ops ops = {.send = on_send,
                                   .on_request = on_request,
                                   .on_notification = on_notification,
                                   .on_garbage = on_garbage,
                                   .answers_garbage = serving};
    struct peer *p = cm_new(struct peer);

    p->sent = p->seen = CM_BUF_INIT(1u << 20);
    p->rpc = cm_rpc_new(&ops, p);
    *state = p;
    return 0;
}

static int asking(void **state)
{
    return set_up_as(state, false);
}

static int serving(void **state)
{
    return set_up_as(state, true);
}

static int tear_down(void **state)
{
    struct peer *p = *state;

    cm_rpc_free(p->rpc);
    cm_buf_done(&p->sent);
    cm_buf_done(&p->seen);
    free(p);
    return 0;
}

static uint64_t ask(struct peer *p)
{
    uint64_t id = 0;

    assert_int_equal(cm_rpc_request(p->rpc, "add", CM_STR("{\"a\":1}"), on_reply, p, &id, NULL), CM_OK);
    return id;
}

static void give(struct peer *p, const char *message)
{
    cm_rpc_receive(p->rpc, cm_str_of(message));
}

static void expect(struct cm_buf *b, const char *text)
{
    assert_string_equal(cm_buf_str(b).ptr, text);
    cm_buf_clear(b);
}

static void answers_find_their_requests_in_any_order(void **state)
{
    struct peer *p = *state;

    assert_int_equal(ask(p), 1);
    assert_int_equal(ask(p), 2);
    assert_int_equal(ask(p), 3);
    expect(&p->sent, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"add\",\"params\":{\"a\":1}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"add\",\"params\":{\"a\":1}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"add\",\"params\":{\"a\":1}}\n");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":12345678901234567890123}}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-7,\"message\":\"no\"}}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":2.0,\"result\":null}");
    expect(&p->seen,
           "reply OK 0 '' {\"n\":12345678901234567890123}\nreply E_PROTOCOL -7 'no' \nreply OK 0 '' null\n");
}

static void a_second_answer_and_a_forgotten_one_are_dropped(void **state)
{
    struct peer *p = *state;

    (void)ask(p);
    uint64_t forgotten = ask(p);
    cm_rpc_forget(p->rpc, forgotten);
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":3}");
    expect(&p->seen, "reply OK 0 '' 1\n");
}

static void an_answer_nobody_asked_for_is_garbage(void **state)
{
    struct peer *p = *state;

    give(p, "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":1}");
    assert_int_equal(p->n_replies, 0);
    assert_non_null(strstr(p->seen.ptr, "an answer to a request that was never made"));
    assert_int_equal(p->sent.len, 0);
}

static void closing_ends_what_is_outstanding_once(void **state)
{
    struct peer *p = *state;
    struct cm_err err;

    (void)ask(p);
    (void)ask(p);
    cm_rpc_close(p->rpc, CM_E_UNAVAILABLE, "it died");
    cm_rpc_close(p->rpc, CM_E_UNAVAILABLE, "again");
    expect(&p->seen, "reply E_UNAVAILABLE 0 'it died' \nreply E_UNAVAILABLE 0 'it died' \n");
    assert_int_equal(cm_rpc_request(p->rpc, "add", CM_STR(""), on_reply, p, NULL, &err), CM_E_UNAVAILABLE);
    assert_string_equal(err.message, "it died");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}");
    assert_int_equal(p->n_replies, 2);
}

static void freeing_ends_what_is_outstanding_once(void **state)
{
    struct peer *p = *state;

    (void)ask(p);
    cm_rpc_free(p->rpc);
    p->rpc = NULL;
    expect(&p->seen, "reply E_CANCELLED 0 'the connection was closed' \n");
}

static void a_request_that_cannot_be_sent_has_no_callback(void **state)
{
    struct peer *p = *state;
    struct cm_err err;

    p->broken = true;
    assert_int_equal(cm_rpc_request(p->rpc, "add", CM_STR(""), on_reply, p, NULL, &err), CM_E_IO);
    cm_rpc_close(p->rpc, CM_E_UNAVAILABLE, "closed");
    assert_int_equal(p->n_replies, 0);
}

static void it_may_be_freed_while_it_asks_its_owner(void **state)
{
    struct peer *p = *state;

    p->free_in_request = true;
    (void)ask(p);
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_null(p->rpc);
    assert_int_equal(p->n_replies, 1);
}

static void requests_keep_their_ids_as_they_came(void **state)
{
    struct peer *p = *state;

    give(p, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"m\",\"params\":{\"x\":[1,2]}}");
    give(p, "{\"jsonrpc\":\"2.0\",\"id\":-5,\"method\":\"m\"}");
    give(p, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}");
    expect(&p->seen, "request \"a\\\"b\" m {\"x\":[1,2]}\nrequest -5 m \nnotification n {}\n");
    assert_int_equal(cm_rpc_answer(p->rpc, CM_STR("\"a\\\"b\""), CM_STR("{}"), NULL), CM_OK);
    assert_int_equal(cm_rpc_refuse(p->rpc, CM_STR("-5"), -32601, "no \"m\"", NULL), CM_OK);
    expect(&p->sent,
           "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"result\":{}}\n"
           "{\"jsonrpc\":\"2.0\",\"id\":-5,\"error\":{\"code\":-32601,\"message\":\"no \\\"m\\\"\"}}\n");
}

/* What is no message, and what the serving side answers: under which id, and with which code (0: nothing). */
static const struct {
    const char *message;
    const char *id;
    int code;
} no_messages[] = {
    {"{", "null", -32700},
    {"hello", "null", -32700},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"", "null", -32700},
    {"[]", "null", -32600},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", "null", -32600},
    {"42", "null", -32600},
    {"{\"id\":1,\"method\":\"m\"}", "1", -32600},
    {"{\"jsonrpc\":2.0,\"id\":\"a\",\"method\":\"m\"}", "\"a\"", -32600},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "1", -32600},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "null", -32600},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", "null", -32600},
    {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", "null", -32600},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "1", -32600},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[1]}", "null", -32600},
    {"{\"jsonrpc\":\"2.0\"}", "null", -32600},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "", 0},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}", "", 0},
};

static void the_serving_side_answers_garbage_with_its_code(void **state)
{
    struct peer *p = *state;

    for (size_t i = 0; i < CM_ARRAY_LEN(no_messages); i++) {
        cm_autofree char *start = cm_asprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,",
                                              no_messages[i].id, no_messages[i].code);
        const char *expected = no_messages[i].code ? start : "";
        give(p, no_messages[i].message);
        struct cm_str sent = cm_buf_str(&p->sent);
        if (!cm_str_has_prefix(sent, cm_str_of(expected)) || (sent.len > 0) != (*expected != '\0'))
            fail_msg("%s: %s", no_messages[i].message, sent.ptr);
        assert_memory_equal(p->seen.ptr, "garbage", 7);
        cm_buf_clear(&p->sent);
        cm_buf_clear(&p->seen);
    }
}

static void the_asking_side_says_nothing_to_garbage(void **state)
{
    struct peer *p = *state;

    for (size_t i = 0; i < CM_ARRAY_LEN(no_messages); i++)
        give(p, no_messages[i].message);
    assert_int_equal(p->sent.len, 0);
}

static void params_that_are_no_object_are_refused_under_their_id(void **state)
{
    struct peer *p = *state;

    give(p, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":[1]}");
    expect(&p->sent, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,\"message\":\"params must be "
                     "an object, not an array\"}}\n");
}

static void an_id_too_long_to_keep_is_refused(void **state)
{
    struct peer *p = *state;
    cm_autobuf b = CM_BUF_INIT(8192);

    cm_buf_add_z(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"");
    for (int i = 0; i < 2000; i++)
        cm_buf_add_char(&b, 'i');
    cm_buf_add_z(&b, "\"}");
    cm_rpc_receive(p->rpc, cm_buf_str(&b));
    assert_memory_equal(p->seen.ptr, "garbage", 7);
}

static void an_unreadable_answer_fails_the_request_whose_id_it_shows(void **state)
{
    struct peer *p = *state;
    const struct cm_err why = {.status = CM_E_LIMIT, .message = "too long"};
    static const struct {
        const char *head, *tail;
        bool fails;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"id\":1,", "xxx]}}", true},
        {"{\"result\":{\"content\":[{\"id\":1},", "}]},\"jsonrpc\":\"2.0\",\"id\":%d}", true},
        {"{\"result\":{\"id\":%d,", "}}", false},
        {"{\"result\":[", "{\"id\":%d}]}", false},
        {"xx\"id\":%d", "xx", false},
        {"", "", false},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        char head[128], tail[128];
        int before = p->n_replies;
        int id = (int)ask(p);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the rows above are the formats */
        (void)snprintf(head, sizeof head, rows[i].head, id);
        (void)snprintf(tail, sizeof tail, rows[i].tail, id);
#pragma GCC diagnostic pop
        cm_rpc_receive_garbage(p->rpc, cm_str_of(head), cm_str_of(tail), &why);
        if (p->n_replies - before != (rows[i].fails ? 1 : 0))
            fail_msg("row %zu: %s … %s", i, head, tail);
        cm_rpc_forget(p->rpc, (uint64_t)id);
    }
}

/* ---- lines ---- */

struct reader {
    cm_lines *lines;
    struct cm_buf seen;
    bool free_at_first;
};

static void on_line(void *user, struct cm_str line)
{
    struct reader *r = user;

    cm_buf_add_char(&r->seen, '[');
    cm_buf_add_str(&r->seen, line);
    cm_buf_add_char(&r->seen, ']');
    if (r->free_at_first) {
        cm_lines_free(r->lines);
        r->lines = NULL;
    }
}

static void on_bad(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    struct reader *r = user;

    cm_buf_addf(&r->seen, "<%s %zu %zu %.*s>", cm_status_name(why->status), head.len, tail.len,
                (int)(tail.len < 4 ? tail.len : 4), tail.ptr + tail.len - (tail.len < 4 ? tail.len : 4));
}

static void read_in_pieces(const char *text, size_t len, size_t piece, size_t max, bool any_bytes,
                           struct cm_buf *out)
{
    struct reader r = {.seen = CM_BUF_INIT(1u << 20)};
    const struct cm_lines_events ev = {on_line, on_bad, any_bytes};

    r.lines = cm_lines_new(max, &ev, &r);
    for (size_t i = 0; i < len; i += piece)
        cm_lines_feed(r.lines, cm_str_mk(text + i, len - i < piece ? len - i : piece));
    cm_lines_end(r.lines);
    cm_lines_free(r.lines);
    cm_buf_clear(out);
    cm_buf_add_str(out, cm_buf_str(&r.seen));
    cm_buf_done(&r.seen);
}

static void lines_are_the_same_however_they_are_cut(void **state)
{
    (void)state;
    static const char text[] = "one\ntwo\r\n\n  \r\n\xc3\xa4\n{\"a\": 1}\nlast";
    cm_autobuf seen = CM_BUF_INIT(1u << 20);

    for (size_t piece = 1; piece <= sizeof text; piece++) {
        read_in_pieces(text, sizeof text - 1, piece, 100, false, &seen);
        assert_string_equal(seen.ptr, "[one][two][\xc3\xa4][{\"a\": 1}][last]");
    }
}

static void a_line_too_long_is_named_and_the_next_one_read(void **state)
{
    (void)state;
    cm_autobuf text = CM_BUF_INIT(1u << 20);
    cm_autobuf seen = CM_BUF_INIT(1u << 20);

    cm_buf_add_z(&text, "first\n");
    for (int i = 0; i < 1000; i++)
        cm_buf_add_char(&text, 'x');
    cm_buf_add_z(&text, "tail\nnext\n");
    for (size_t piece = 1; piece <= text.len; piece = piece < 20 ? piece + 1 : piece * 2) {
        read_in_pieces(text.ptr, text.len, piece, 600, false, &seen);
        assert_string_equal(seen.ptr, "[first]<E_LIMIT 256 256 tail>[next]");
        read_in_pieces(text.ptr, text.len, piece, 10, false, &seen);
        assert_non_null(strstr(seen.ptr, "tail>[next]"));
        read_in_pieces(text.ptr, text.len, piece, 1004, false, &seen);
        assert_int_equal(seen.len, strlen("[first][]") + 1004 + strlen("[next]"));
    }
}

static void a_line_that_is_no_utf8_is_refused_unless_that_was_allowed(void **state)
{
    (void)state;
    cm_autobuf seen = CM_BUF_INIT(1u << 20);

    read_in_pieces("caf\xe9\nok\n", 8, 8, 100, false, &seen);
    assert_string_equal(seen.ptr, "<E_INVALID 4 4 caf\xe9>[ok]");
    read_in_pieces("caf\xe9\nok\n", 8, 8, 100, true, &seen);
    assert_string_equal(seen.ptr, "[caf\xe9][ok]");
}

static void a_reader_may_be_freed_in_its_callback(void **state)
{
    (void)state;
    struct reader r = {.seen = CM_BUF_INIT(1000), .free_at_first = true};
    const struct cm_lines_events ev = {on_line, on_bad, false};

    r.lines = cm_lines_new(100, &ev, &r);
    cm_lines_feed(r.lines, CM_STR("one\ntwo\n"));
    assert_null(r.lines);
    assert_string_equal(r.seen.ptr, "[one]");
    cm_buf_done(&r.seen);
}

static void a_message_is_written_as_one_line(void **state)
{
    (void)state;
    cm_autobuf b = CM_BUF_INIT(100);

    cm_lines_format(&b, CM_STR("{\n  \"a\": 1\r\n}"));
    assert_string_equal(b.ptr, "{   \"a\": 1  }\n");
}

#define ASKING(name)  cmocka_unit_test_setup_teardown(name, asking, tear_down)
#define SERVING(name) cmocka_unit_test_setup_teardown(name, serving, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASKING(answers_find_their_requests_in_any_order),
        ASKING(a_second_answer_and_a_forgotten_one_are_dropped),
        ASKING(an_answer_nobody_asked_for_is_garbage),
        ASKING(closing_ends_what_is_outstanding_once),
        ASKING(freeing_ends_what_is_outstanding_once),
        ASKING(a_request_that_cannot_be_sent_has_no_callback),
        ASKING(it_may_be_freed_while_it_asks_its_owner),
        ASKING(requests_keep_their_ids_as_they_came),
        SERVING(the_serving_side_answers_garbage_with_its_code),
        ASKING(the_asking_side_says_nothing_to_garbage),
        SERVING(params_that_are_no_object_are_refused_under_their_id),
        ASKING(an_id_too_long_to_keep_is_refused),
        ASKING(an_unreadable_answer_fails_the_request_whose_id_it_shows),
        cmocka_unit_test(lines_are_the_same_however_they_are_cut),
        cmocka_unit_test(a_line_too_long_is_named_and_the_next_one_read),
        cmocka_unit_test(a_line_that_is_no_utf8_is_refused_unless_that_was_allowed),
        cmocka_unit_test(a_reader_may_be_freed_in_its_callback),
        cmocka_unit_test(a_message_is_written_as_one_line),
    };

    return cmocka_run_group_tests_name("rpc", tests, NULL, NULL);
}
