/*
 * The protocol of the serving side. A table says which method is answered by which function; tools/call makes
 * a cm_mcp_request that lives until its owner answers it, whatever the client does meanwhile:
 *
 *   call --> owner works --> _result/_error --> answer sent, request freed
 *              '-- client cancels, hangs up, or the server is freed: marked `mute`; the owner's answer is
 * then only the release
 */
#include "mcp/server.h"

#include "base/limits.h"
#include "mcp/versions.h"
#include "rpc/rpc.h"

#include <math.h>

#define RPC_INVALID_REQUEST (-32600)
#define RPC_NO_METHOD       (-32601)
#define RPC_INVALID_PARAMS  (-32602)
#define RPC_INTERNAL        (-32603)
#define TOKEN_MAX_BYTES     1024

struct cm_mcp_request {
    cm_mcp_server *s; /* NULL once the server is gone */
    cm_mcp_request *next;
    char *id;    /* JSON text */
    char *token; /* JSON text of the progress token, or NULL */
    void *state;
    double progress;
    bool mute; /* the client does not want the answer any more */
};

struct cm_mcp_server {
    struct cm_mcp_carrier carrier;
    struct cm_mcp_server_ops ops;
    void *user;
    char *name, *title, *version, *instructions;
    cm_rpc *rpc;
    cm_mcp_request *requests;
    size_t n_requests;
    bool initialized;
    bool told_closed;
    unsigned busy;
    bool doomed;
};

/* ---- life ---- */

static void leave(cm_mcp_server *s)
{
    if (--s->busy > 0 || !s->doomed)
        return;
    free(s->name);
    free(s->title);
    free(s->version);
    free(s->instructions);
    free(s);
}

void cm_mcp_server_free(cm_mcp_server *s)
{
    if (!s || s->doomed)
        return;
    s->busy++;
    s->doomed = true;
    while (s->requests) {
        cm_mcp_request *rq = s->requests;
        s->requests = rq->next;
        rq->s = NULL;
    }
    cm_rpc_free(s->rpc);
    if (s->carrier.free)
        s->carrier.free(s->carrier.self);
    leave(s);
}

bool cm_mcp_server_stop(cm_mcp_server *s)
{
    return s->carrier.stop && s->carrier.stop(s->carrier.self);
}

size_t cm_mcp_server_in_flight(const cm_mcp_server *s)
{
    return s->n_requests;
}

void cm_mcp_server_receive(cm_mcp_server *s, struct cm_str message)
{
    if (s->doomed)
        return;
    s->busy++;
    cm_rpc_receive(s->rpc, message);
    leave(s);
}

void cm_mcp_server_receive_garbage(cm_mcp_server *s, struct cm_str head, struct cm_str tail,
                                   const struct cm_err *why)
{
    if (s->doomed)
        return;
    s->busy++;
    cm_rpc_receive_garbage(s->rpc, head, tail, why);
    leave(s);
}

/* ---- requests ---- */

static void silence(cm_mcp_server *s, cm_mcp_request *rq)
{
    rq->mute = true;
    s->ops.cancel(s->user, rq);
}

void cm_mcp_server_hang_up(cm_mcp_server *s)
{
    cm_mcp_request *rq = s->requests;

    s->busy++;
    /* The callback may answer, and so free, the request; or it may free the server. */
    while (rq && !s->doomed) {
        if (rq->mute) {
            rq = rq->next;
            continue;
        }
        silence(s, rq);
        rq = s->requests;
    }
    leave(s);
}

void cm_mcp_server_tell_closed(cm_mcp_server *s)
{
    if (s->told_closed || s->doomed)
        return;
    s->told_closed = true;
    s->busy++;
    s->ops.closed(s->user);
    leave(s);
}

void cm_mcp_request_set_state(cm_mcp_request *rq, void *state)
{
    rq->state = state;
}

void *cm_mcp_request_state(const cm_mcp_request *rq)
{
    return rq->state;
}

static void request_free(cm_mcp_request *rq)
{
    free(rq->id);
    free(rq->token);
    free(rq);
}

static cm_mcp_request *find_request(cm_mcp_server *s, struct cm_str id)
{
    for (cm_mcp_request *rq = s->requests; rq; rq = rq->next)
        if (cm_str_eq_z(id, rq->id))
            return rq;
    return NULL;
}

/* Take it out of the list and free it; tell the carrier when it was the last. */
static void release(cm_mcp_request *rq)
{
    cm_mcp_server *s = rq->s;

    if (s) {
        cm_mcp_request **at = &s->requests;
        while (*at != rq)
            at = &(*at)->next;
        *at = rq->next;
        s->n_requests--;
        if (s->n_requests == 0 && s->carrier.idle)
            s->carrier.idle(s->carrier.self);
    }
    request_free(rq);
}

static bool wants_answer(const cm_mcp_request *rq)
{
    return rq->s && !rq->mute;
}

void cm_mcp_request_result(cm_mcp_request *rq, struct cm_str text, struct cm_str structured, bool is_error)
{
    cm_mcp_request_result_with(rq, text, CM_STR(""), CM_STR(""), structured, is_error);
}

void cm_mcp_request_result_with(cm_mcp_request *rq, struct cm_str text, struct cm_str note,
                                struct cm_str blocks, struct cm_str structured, bool is_error)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    struct cm_err err;

    if (wants_answer(rq)) {
        cm_buf_add_z(&b, "{\"content\":[{\"type\":\"text\",\"text\":");
        cm_json_write_string(&b, text.ptr ? text : structured);
        if (note.len > 0) {
            cm_buf_add_z(&b, "},{\"type\":\"text\",\"text\":");
            cm_json_write_string(&b, note);
        }
        cm_buf_add_char(&b, '}');
        if (blocks.len > 0) {
            cm_buf_add_char(&b, ',');
            cm_buf_add_str(&b, blocks);
        }
        cm_buf_add_char(&b, ']');
        if (structured.len > 0) {
            cm_buf_add_z(&b, ",\"structuredContent\":");
            cm_buf_add_str(&b, structured);
        }
        if (is_error)
            cm_buf_add_z(&b, ",\"isError\":true");
        cm_buf_add_char(&b, '}');
        if (cm_buf_check(&b, "the result of the call", &err) == CM_OK)
            (void)cm_rpc_answer(rq->s->rpc, cm_str_of(rq->id), cm_buf_str(&b), NULL);
        else
            (void)cm_rpc_refuse(rq->s->rpc, cm_str_of(rq->id), RPC_INTERNAL, err.message, NULL);
    }
    release(rq);
}

void cm_mcp_request_error(cm_mcp_request *rq, int code, const char *message)
{
    if (wants_answer(rq))
        (void)cm_rpc_refuse(rq->s->rpc, cm_str_of(rq->id), code, message, NULL);
    release(rq);
}

void cm_mcp_request_progress(cm_mcp_request *rq, double progress, const char *message)
{
    cm_autobuf b = CM_BUF_INIT(65536);

    if (!wants_answer(rq) || !rq->token)
        return;
    rq->progress = isfinite(progress) && progress > rq->progress ? progress : rq->progress + 1;
    cm_buf_add_z(&b, "{\"progressToken\":");
    cm_buf_add_z(&b, rq->token);
    cm_buf_add_z(&b, ",\"progress\":");
    cm_json_write_number(&b, rq->progress);
    if (message) {
        cm_buf_add_z(&b, ",\"message\":");
        cm_json_write_string(&b, cm_str_of(message));
    }
    cm_buf_add_char(&b, '}');
    if (!b.failed)
        (void)cm_rpc_notify(rq->s->rpc, "notifications/progress", cm_buf_str(&b), NULL);
}

/* ---- methods ---- */

static void refuse(cm_mcp_server *s, struct cm_str id, int code, const char *message)
{
    (void)cm_rpc_refuse(s->rpc, id, code, message, NULL);
}

/* The same revision where we speak it, otherwise our latest (2025-11-25, "Version Negotiation"). */
static void initialize(cm_mcp_server *s, struct cm_str id, yyjson_val *params)
{
    cm_autobuf b = CM_BUF_INIT(1u << 20);
    struct cm_str asked = cm_json_str(cm_json_get(params, "protocolVersion"));

    if (!asked.ptr) {
        refuse(s, id, RPC_INVALID_PARAMS,
               "initialize needs a string params.protocolVersion, such as \"2025-11-25\"");
        return;
    }
    cm_buf_add_z(&b, "{\"protocolVersion\":");
    cm_json_write_string(&b, cm_mcp_version_is_known(asked) ? asked : CM_STR("2025-11-25"));
    cm_buf_add_z(&b, ",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":");
    cm_json_write_string(&b, cm_str_of(s->name));
    if (s->title) {
        cm_buf_add_z(&b, ",\"title\":");
        cm_json_write_string(&b, cm_str_of(s->title));
    }
    cm_buf_add_z(&b, ",\"version\":");
    cm_json_write_string(&b, cm_str_of(s->version));
    cm_buf_add_char(&b, '}');
    if (s->instructions) {
        cm_buf_add_z(&b, ",\"instructions\":");
        cm_json_write_string(&b, cm_str_of(s->instructions));
    }
    cm_buf_add_char(&b, '}');
    (void)cm_rpc_answer(s->rpc, id, cm_buf_str(&b), NULL);
}

static void ping(cm_mcp_server *s, struct cm_str id, yyjson_val *params)
{
    (void)params;
    (void)cm_rpc_answer(s->rpc, id, CM_STR("{}"), NULL);
}

static void tools_list(cm_mcp_server *s, struct cm_str id, yyjson_val *params)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    struct cm_err err;
    yyjson_val *cursor = cm_json_get(params, "cursor");

    if (cursor && !yyjson_is_null(cursor)) {
        refuse(s, id, RPC_INVALID_PARAMS, "there is no such cursor: the list of tools has one page");
        return;
    }
    cm_buf_add_z(&b, "{\"tools\":");
    s->ops.tools(s->user, &b);
    cm_buf_add_char(&b, '}');
    if (cm_buf_check(&b, "the list of tools", &err) == CM_OK)
        (void)cm_rpc_answer(s->rpc, id, cm_buf_str(&b), NULL);
    else
        refuse(s, id, RPC_INTERNAL, err.message);
}

static char *token_of(yyjson_val *params)
{
    cm_autobuf b = CM_BUF_INIT(TOKEN_MAX_BYTES);
    yyjson_val *token = cm_json_get(cm_json_get(params, "_meta"), "progressToken");

    if (!yyjson_is_str(token) && !yyjson_is_int(token))
        return NULL;
    cm_json_write(&b, token);
    return b.failed ? NULL : cm_buf_take(&b, NULL);
}

static void tools_call(cm_mcp_server *s, struct cm_str id, yyjson_val *params)
{
    struct cm_str tool = cm_json_str(cm_json_get(params, "name"));
    yyjson_val *args = cm_json_get(params, "arguments");

    if (!tool.ptr) {
        refuse(s, id, RPC_INVALID_PARAMS, "tools/call needs a string params.name");
        return;
    }
    if (args && !yyjson_is_obj(args) && !yyjson_is_null(args)) {
        cm_autofree char *why = cm_asprintf("params.arguments must be an object, not %s", cm_json_kind(args));
        refuse(s, id, RPC_INVALID_PARAMS, why);
        return;
    }
    if (s->n_requests >= CM_MCP_CALLS_MAX) {
        refuse(s, id, RPC_INTERNAL, "too many calls are in flight; wait for an answer first");
        return;
    }
    cm_mcp_request *rq = cm_new(cm_mcp_request);
    *rq = (cm_mcp_request){.s = s,
                           .next = s->requests,
                           .id = cm_memdup_z(id.ptr, id.len),
                           .token = token_of(params),
                           .progress = -1};
    s->requests = rq;
    s->n_requests++;
    s->ops.call(s->user, rq, tool, yyjson_is_obj(args) ? args : NULL);
}

static const struct {
    const char *name;
    void (*run)(cm_mcp_server *s, struct cm_str id, yyjson_val *params);
} methods[] = {
    {"initialize", initialize},
    {"ping", ping},
    {"tools/list", tools_list},
    {"tools/call", tools_call},
};

static void on_request(void *user, struct cm_str id, struct cm_str method, yyjson_val *params)
{
    cm_mcp_server *s = user;

    if (find_request(s, id)) {
        refuse(s, id, RPC_INVALID_REQUEST,
               "this id belongs to a request that is still in flight; ids must not be used twice");
        return;
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(methods); i++) {
        if (!cm_str_eq_z(method, methods[i].name))
            continue;
        methods[i].run(s, id, params);
        return;
    }
    cm_autofree char *why = cm_asprintf(
        "there is no method '%.*s'; this server answers initialize, ping, tools/list and tools/call",
        (int)(method.len < 80 ? method.len : 80), method.ptr);
    refuse(s, id, RPC_NO_METHOD, why);
}

static void cancelled(cm_mcp_server *s, yyjson_val *params)
{
    cm_autobuf id = CM_BUF_INIT(TOKEN_MAX_BYTES);
    yyjson_val *value = cm_json_get(params, "requestId");

    if (!value)
        return;
    cm_json_write(&id, value);
    cm_mcp_request *rq = id.failed ? NULL : find_request(s, cm_buf_str(&id));
    /* Unknown or answered meanwhile: the specification asks to ignore it. */
    if (rq && !rq->mute)
        silence(s, rq);
}

static void on_notification(void *user, struct cm_str method, yyjson_val *params)
{
    cm_mcp_server *s = user;

    if (cm_str_eq_z(method, "notifications/initialized"))
        s->initialized = true;
    else if (cm_str_eq_z(method, "notifications/cancelled"))
        cancelled(s, params);
}

void cm_mcp_server_tools_changed(cm_mcp_server *s)
{
    if (s->initialized)
        (void)cm_rpc_notify(s->rpc, "notifications/tools/list_changed", CM_STR(""), NULL);
}

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    cm_mcp_server *s = user;

    return s->carrier.send(s->carrier.self, message, err);
}

cm_mcp_server *cm_mcp_server_new_over(const struct cm_mcp_carrier *carrier,
                                      const struct cm_mcp_server_info *info,
                                      const struct cm_mcp_server_ops *ops, void *user)
{
    static const struct cm_rpc_ops rpc_ops = {.send = on_send,
                                              .on_request = on_request,
                                              .on_notification = on_notification,
                                              .answers_garbage = true};
    cm_mcp_server *s = cm_new(cm_mcp_server);

    s->carrier = *carrier;
    s->ops = *ops;
    s->user = user;
    s->name = cm_strdup(info->name);
    s->title = cm_strdup_null(info->title);
    s->version = cm_strdup(info->version);
    s->instructions = cm_strdup_null(info->instructions);
    s->rpc = cm_rpc_new(&rpc_ops, s);
    return s;
}
