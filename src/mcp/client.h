/**
 * mcp client: our end of a server's protocol. Lifecycle, paged tools/list, tools/call, cancellation,
 * progress, ping, list_changed.
 *
 * Carrier-free: give it what was received, it says what to send. The stdio carrier (a child) is made by the
 * connector. Hostile peer: pages, tools and bytes are bounded; a page cursor that repeats ends the listing
 * with an error. It offers the server nothing (no roots, sampling, elicitation, tasks): such a request is
 * refused by name. Whatever a callback does, cm_mcp_client_free included, is safe.
 */
#ifndef CM_MCP_CLIENT_H
#define CM_MCP_CLIENT_H

#include "base/base.h"
#include "rpc/rpc.h"
#include "json/json.h"

#include <stdint.h>

typedef struct cm_mcp_client cm_mcp_client;

struct cm_mcp_client_ops {
    cm_status (*send)(void *user, struct cm_str message, struct cm_err *err);
    /**
     * Handshake and the whole tool list are done; `tools` is a JSON array of the server's tool objects,
     * borrowed until a later on_tools_changed has returned, or until free.
     */
    void (*on_ready)(void *user, yyjson_val *tools, const char *instructions);
    /** Could not get ready: err says what the server did. Comes once, instead of on_ready. */
    void (*on_failed)(void *user, const struct cm_err *err);
    /** The server said its tools changed and the new list, which differs, has been read. A failing refresh
     * keeps the old list. */
    void (*on_tools_changed)(void *user, yyjson_val *tools);
    /** Something that is no message (its head, any bytes). Optional. */
    void (*on_garbage)(void *user, struct cm_str head, const struct cm_err *why);
};

/** The protocol revision we ask for. Older ones that a server may answer with stand in client.c and server.c.
 */
#define CM_MCP_PROTOCOL_VERSION "2025-11-25"

cm_mcp_client *cm_mcp_client_new(const struct cm_mcp_client_ops *ops, void *user);
void cm_mcp_client_free(cm_mcp_client *c);
CM_DEFINE_AUTO(cm_mcp_client, cm_mcp_client_free)
/** Send initialize; the rest follows. */
void cm_mcp_client_start(cm_mcp_client *c);
void cm_mcp_client_receive(cm_mcp_client *c, struct cm_str message);
/** What the carrier could not read as a message; as cm_rpc_receive_garbage. */
void cm_mcp_client_receive_garbage(cm_mcp_client *c, struct cm_str head, struct cm_str tail,
                                   const struct cm_err *why);
/** What the handshake waits for, for a message about one that takes too long: "initialize" or "tools/list";
 * NULL when it is over. */
const char *cm_mcp_client_waits_for(const cm_mcp_client *c);
/** The carrier ended; everything outstanding fails with why. */
void cm_mcp_client_close(cm_mcp_client *c, const char *why);

/** A tools/call answer, borrowed: with CM_OK the result is a CallToolResult object; otherwise the peer's
 * error, or why there is none. */
typedef void (*cm_mcp_result_fn)(void *user, const struct cm_rpc_reply *reply);
/** Whether the server runs tools as tasks (capability tasks.requests.tools.call). Known once it is ready. */
bool cm_mcp_client_runs_tasks(const cm_mcp_client *c);
/**
 * Call a tool. args_json: an object's text. as_task: for a tool whose execution.taskSupport is "required";
 * the result is waited for all the same. *id for cm_mcp_client_cancel. fn may run inside this call where the
 * carrier answers at once.
 *
 * Errors: CM_E_UNAVAILABLE not ready, or the server went away; CM_E_LIMIT too many bytes; what send gave.
 * fn does not run then.
 */
cm_status cm_mcp_client_call(cm_mcp_client *c, const char *tool, struct cm_str args_json, bool as_task,
                             cm_mcp_result_fn fn, void *user, uint64_t *id, struct cm_err *err);
/** notifications/cancelled, or tasks/cancel; the callback does not run any more. */
void cm_mcp_client_cancel(cm_mcp_client *c, uint64_t id, const char *reason);

#endif
