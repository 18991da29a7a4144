/**
 * The calls of a client that are in flight: plain ones, and those that a server runs only as a task.
 *
 *   plain   tools/call ------------------------------------------> its result
 *   task    tools/call with "task" --> the task's id --> tasks/result, which waits for the end --> the result
 *
 * (2025-11-25, "Tasks".) Both look alike to the caller: one id, one callback.
 */
#ifndef CM_MCP_CALLS_H
#define CM_MCP_CALLS_H

#include "mcp/client.h"

/** Zero-initialise with the rpc. Outstanding calls end with the rpc. */
struct cm_mcp_calls {
    cm_rpc *rpc;
    struct cm_mcp_call *first;
};

/** As cm_mcp_client_call. */
cm_status cm_mcp_calls_send(struct cm_mcp_calls *calls, const char *tool, struct cm_str args_json,
                            bool as_task, cm_mcp_result_fn fn, void *user, uint64_t *id, struct cm_err *err);
/** As cm_mcp_client_cancel. */
void cm_mcp_calls_cancel(struct cm_mcp_calls *calls, uint64_t id, const char *reason);

#endif
