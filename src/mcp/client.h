/**
 * mcp client: our end of a server's protocol. Lifecycle, paged tools/list, tools/call, cancellation, progress, ping, list_changed.
 *
 * Carrier-free: give it what was received, it says what to send. The stdio carrier (a child) is made by the connector.
 * Hostile peer: pages, tools and bytes are bounded; a page cursor that repeats ends the listing with an error.
 */
#ifndef CM_MCP_CLIENT_H
#define CM_MCP_CLIENT_H

#include "base/base.h"
#include "json/json.h"
#include "loop/loop.h"

#include <stdint.h>

typedef struct cm_mcp_client cm_mcp_client;

struct cm_mcp_client_ops {
    cm_status (*send)(void *user, struct cm_str message, struct cm_err *err);
    /** Handshake and the whole tool list are done; `tools` is a JSON array of the server's tool objects, borrowed for ever (until free). */
    void (*on_ready)(void *user, yyjson_val *tools, const char *instructions);
    /** Could not get ready: err says what the server did. Comes once, instead of on_ready. */
    void (*on_failed)(void *user, const struct cm_err *err);
    /** The server said its tools changed and the new list has been read. A failing refresh keeps the old list. */
    void (*on_tools_changed)(void *user, yyjson_val *tools);
};

cm_mcp_client *cm_mcp_client_new(const struct cm_mcp_client_ops *ops, void *user);
void cm_mcp_client_free(cm_mcp_client *c);
CM_DEFINE_AUTO(cm_mcp_client, cm_mcp_client_free)
/** Send initialize; the rest follows. */
void cm_mcp_client_start(cm_mcp_client *c);
void cm_mcp_client_receive(cm_mcp_client *c, struct cm_str message);
/** The carrier ended; everything outstanding fails with why. */
void cm_mcp_client_close(cm_mcp_client *c, const char *why);

/** A tools/call answer: `result` is the CallToolResult object (borrowed), or NULL with the error's code and message. */
typedef void (*cm_mcp_result_fn)(void *user, yyjson_val *result, int code, const char *message);
/** args_json: an object's text. *id for cm_mcp_client_cancel. */
cm_status cm_mcp_client_call(cm_mcp_client *c, const char *tool, struct cm_str args_json, cm_mcp_result_fn fn, void *user,
                             uint64_t *id, struct cm_err *err);
/** notifications/cancelled; the callback does not run any more. */
void cm_mcp_client_cancel(cm_mcp_client *c, uint64_t id, const char *reason);

#endif
