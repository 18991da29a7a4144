/* MCP: a stream of bytes as a server (first byte even) or a client (odd) could send it. Whatever comes, each
 * of our calls is answered exactly once, each of our messages is one line of JSON, and a result unwraps to a
 * value that is canonical or to a failure with a message. */
#include "connector/mcp.h"
#include "fuzz.h"
#include "mcp/client.h"
#include "mcp/server.h"
#include "rpc/lines.h"

#define LINE_MAX_BYTES 65536

struct run {
    cm_mcp_client *client;
    cm_mcp_server *server;
    cm_mcp_request *held;
    int n_called, n_answered, n_told;
};

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf line = CM_BUF_INIT(message.len + 1);

    (void)user;
    (void)err;
    CM_MUST(cm_json_parse(message, CM_JSON_BIGNUM, &doc, NULL) == CM_OK);
    cm_lines_format(&line, message);
    CM_MUST(line.len == message.len + 1 && memchr(line.ptr, '\n', line.len) == line.ptr + message.len);
    return CM_OK;
}

static void on_result(void *user, const struct cm_rpc_reply *reply)
{
    struct run *r = user;
    struct cm_mcp_outcome o = {0};
    struct cm_own_value again = {0};

    r->n_answered++;
    if (reply->status != CM_OK || cm_mcp_unwrap(reply->result, &o, NULL) != CM_OK)
        return;
    CM_MUST(!o.failed || o.message);
    if (!o.failed) {
        CM_MUST(cm_value_checked(cm_value_view(&o.value), 1U << 24, &again, NULL) == CM_OK);
        CM_MUST(again.json_len == o.value.json_len && memcmp(again.json, o.value.json, again.json_len) == 0);
    }
    cm_value_done(&again);
    cm_mcp_outcome_done(&o);
}

static void call_some(struct run *r)
{
    uint64_t id = 0;

    for (int i = 0; i < 4; i++)
        if (cm_mcp_client_call(r->client, "t", CM_STR("{}"), i % 2 == 1, on_result, r, &id, NULL) == CM_OK)
            r->n_called++;
}

static void on_ready(void *user, yyjson_val *tools, const char *instructions)
{
    struct run *r = user;

    (void)instructions;
    CM_MUST(yyjson_is_arr(tools));
    r->n_told++;
    call_some(r);
}

static void on_failed(void *user, const struct cm_err *err)
{
    struct run *r = user;

    CM_MUST(err->message[0] != '\0');
    r->n_told++;
}

static void on_changed(void *user, yyjson_val *tools)
{
    (void)user;
    CM_MUST(yyjson_is_arr(tools));
}

static void client_line(void *user, struct cm_str line)
{
    cm_mcp_client_receive(((struct run *)user)->client, line);
}

static void client_bad(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    cm_mcp_client_receive_garbage(((struct run *)user)->client, head, tail, why);
}

static void as_client(struct cm_str bytes)
{
    static const struct cm_mcp_client_ops ops = {on_send, on_ready, on_failed, on_changed, NULL};
    static const struct cm_lines_events events = {client_line, client_bad, true};
    struct run r = {0};

    r.client = cm_mcp_client_new(&ops, &r);
    cm_lines *lines = cm_lines_new(LINE_MAX_BYTES, &events, &r);
    cm_mcp_client_start(r.client);
    cm_lines_feed(lines, bytes);
    cm_lines_end(lines);
    cm_mcp_client_close(r.client, "the end");
    CM_MUST(r.n_told == 1);
    CM_MUST(r.n_called == r.n_answered);
    cm_lines_free(lines);
    cm_mcp_client_free(r.client);
}

static void tools(void *user, struct cm_buf *out)
{
    (void)user;
    cm_buf_add_z(out, "[]");
}

/* Answers the call before, so that one is always in flight. */
static void on_call(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args)
{
    struct run *r = user;
    cm_mcp_request *before = r->held;

    (void)args;
    r->held = rq;
    cm_mcp_request_progress(rq, 1, "begun");
    if (before)
        cm_mcp_request_result(before, tool, CM_STR(""), false);
}

static void on_cancel(void *user, cm_mcp_request *rq)
{
    (void)user;
    CM_MUST(rq != NULL);
}

static void on_closed(void *user)
{
    (void)user;
}

static void server_line(void *user, struct cm_str line)
{
    cm_mcp_server_receive(((struct run *)user)->server, line);
}

static void server_bad(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    cm_mcp_server_receive_garbage(((struct run *)user)->server, head, tail, why);
}

static void as_server(struct cm_str bytes)
{
    static const struct cm_mcp_server_ops ops = {tools, on_call, on_cancel, on_closed};
    static const struct cm_mcp_server_info info = {"fuzz", NULL, "0", NULL};
    static const struct cm_lines_events events = {.on_line = server_line, .on_bad = server_bad};
    struct run r = {0};

    r.server = cm_mcp_server_new_over(&(struct cm_mcp_carrier){.send = on_send, .self = &r}, &info, &ops, &r);
    cm_lines *lines = cm_lines_new(LINE_MAX_BYTES, &events, &r);
    cm_lines_feed(lines, bytes);
    cm_lines_end(lines);
    cm_mcp_server_hang_up(r.server);
    CM_MUST(cm_mcp_server_in_flight(r.server) == (r.held ? 1 : 0));
    if (r.held)
        cm_mcp_request_error(r.held, 0, "");
    CM_MUST(cm_mcp_server_in_flight(r.server) == 0);
    cm_lines_free(lines);
    cm_mcp_server_free(r.server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct cm_str bytes = cm_str_mk(data + 1, size - 1);
    if (data[0] % 2)
        as_server(bytes);
    else
        as_client(bytes);
    return 0;
}
