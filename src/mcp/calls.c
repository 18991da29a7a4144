#include "mcp/calls.h"

#include "base/limits.h"

#include <inttypes.h>

#define TASK_ID_MAX_BYTES 1024

struct cm_mcp_call {
    struct cm_mcp_calls *calls;
    struct cm_mcp_call *next;
    uint64_t id;     /* what the caller knows: of the tools/call */
    uint64_t rpc_id; /* of the request in flight */
    bool as_task;
    char *task;          /* {"taskId": …}, once known */
    cm_mcp_result_fn fn; /* NULL: cancelled before the task's id was known */
    void *user;
};

static bool unlink_call(const struct cm_mcp_call *k)
{
    for (struct cm_mcp_call **at = &k->calls->first; *at; at = &(*at)->next) {
        if (*at != k)
            continue;
        *at = k->next;
        return true;
    }
    return false;
}

static void free_call(struct cm_mcp_call *k)
{
    (void)unlink_call(k);
    free(k->task);
    free(k);
}

static void finish(struct cm_mcp_call *k, const struct cm_rpc_reply *reply)
{
    (void)unlink_call(k);
    if (k->fn)
        k->fn(k->user, reply);
    free(k->task);
    free(k);
}

static void fail(struct cm_mcp_call *k, cm_status st, const char *why)
{
    finish(k, &(struct cm_rpc_reply){.status = st, .message = why});
}

static void on_result(void *user, const struct cm_rpc_reply *reply)
{
    struct cm_mcp_call *k = user;

    if (reply->status == CM_OK && !yyjson_is_obj(reply->result))
        fail(k, CM_E_PROTOCOL, "the server answered tools/call with something that is no object");
    else
        finish(k, reply);
}

/* ---- tasks ---- */

static void nobody_waits(void *user, const struct cm_rpc_reply *reply)
{
    (void)user;
    (void)reply;
}

static void cancel_task(const struct cm_mcp_call *k)
{
    (void)cm_rpc_request(k->calls->rpc, "tasks/cancel", cm_str_of(k->task), nobody_waits, NULL, NULL, NULL);
}

/* The server took the call and named the task: ask for its result, which comes when it has ended. */
static void on_task(void *user, const struct cm_rpc_reply *reply)
{
    struct cm_mcp_call *k = user;
    struct cm_str id = cm_json_str(cm_json_get(cm_json_get(reply->result, "task"), "taskId"));
    cm_autobuf params = CM_BUF_INIT(TASK_ID_MAX_BYTES * 6 + 32);
    struct cm_err err;

    if (reply->status != CM_OK) {
        finish(k, reply);
        return;
    }
    if (!id.ptr || id.len > TASK_ID_MAX_BYTES) {
        fail(k, CM_E_PROTOCOL, "the server answered a call that runs as a task without a usable task.taskId");
        return;
    }
    cm_buf_add_z(&params, "{\"taskId\":");
    cm_json_write_string(&params, id);
    cm_buf_add_char(&params, '}');
    k->task = cm_buf_take(&params, NULL);
    if (!k->fn) {
        cancel_task(k);
        free_call(k);
        return;
    }
    if (cm_rpc_request(k->calls->rpc, "tasks/result", cm_str_of(k->task), on_result, k, &k->rpc_id, &err) !=
        CM_OK)
        fail(k, err.status, err.message);
}

/* ---- sending and cancelling ---- */

static cm_status send(struct cm_mcp_call *k, struct cm_str params, uint64_t *id, struct cm_err *err)
{
    struct cm_mcp_calls *calls = k->calls;
    uint64_t mine = 0;
    cm_status st =
        cm_rpc_request(calls->rpc, "tools/call", params, k->as_task ? on_task : on_result, k, &mine, err);

    if (st != CM_OK) {
        free_call(k);
        return st;
    }
    /* It may have been answered already, and be gone or a step further. */
    for (struct cm_mcp_call *at = calls->first; at; at = at->next) {
        if (at != k)
            continue;
        at->id = mine;
        if (at->rpc_id == 0)
            at->rpc_id = mine;
    }
    *id = mine;
    return CM_OK;
}

cm_status cm_mcp_calls_send(struct cm_mcp_calls *calls, const char *tool, struct cm_str args_json,
                            bool as_task, cm_mcp_result_fn fn, void *user, uint64_t *id, struct cm_err *err)
{
    cm_autobuf params = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    struct cm_mcp_call *k;

    cm_buf_add_z(&params, "{\"name\":");
    cm_json_write_string(&params, cm_str_of(tool));
    cm_buf_add_z(&params, ",\"arguments\":");
    cm_buf_add_str(&params, args_json);
    cm_buf_add_z(&params, as_task ? ",\"task\":{}}" : "}");
    cm_status st = cm_buf_check(&params, "the call with its arguments", err);
    if (st != CM_OK)
        return st;
    k = cm_new(struct cm_mcp_call);
    *k = (struct cm_mcp_call){
        .calls = calls, .as_task = as_task, .fn = fn, .user = user, .next = calls->first};
    calls->first = k;
    return send(k, cm_buf_str(&params), id, err);
}

static void cancel_request(const struct cm_mcp_call *k, const char *reason)
{
    cm_autobuf params = CM_BUF_INIT(4096);

    cm_buf_addf(&params, "{\"requestId\":%" PRIu64 ",\"reason\":", k->rpc_id);
    cm_json_write_string(&params, cm_str_of(reason));
    cm_buf_add_char(&params, '}');
    if (!params.failed)
        (void)cm_rpc_notify(k->calls->rpc, "notifications/cancelled", cm_buf_str(&params), NULL);
}

void cm_mcp_calls_cancel(struct cm_mcp_calls *calls, uint64_t id, const char *reason)
{
    struct cm_mcp_call *k = calls->first;

    while (k && (k->id != id || !k->fn))
        k = k->next;
    if (!k)
        return;
    if (k->as_task && !k->task) {
        /* A task is cancelled by its id (2025-11-25, "Cancellation"): wait for that, and only for that. */
        k->fn = NULL;
        return;
    }
    cm_rpc_forget(calls->rpc, k->rpc_id);
    if (k->task)
        cancel_task(k);
    else
        cancel_request(k, reason);
    free_call(k);
}
