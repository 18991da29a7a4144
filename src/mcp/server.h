/**
 * mcp server: what a client of codemode talks to. Protocol revisions 2025-11-25, 2025-06-18 (and 2025-03-26, 2024-11-05 read-alike).
 *
 * It knows lifecycle, tools, ping, cancellation and progress, and no runtime: the tools come from a table of callbacks.
 * Stdout carries the protocol and nothing else.
 */
#ifndef CM_MCP_SERVER_H
#define CM_MCP_SERVER_H

#include "base/base.h"
#include "json/json.h"
#include "loop/loop.h"

typedef struct cm_mcp_server cm_mcp_server;
typedef struct cm_mcp_request cm_mcp_request;

struct cm_mcp_server_ops {
    /** Append the JSON array of tools (name, title, description, inputSchema, outputSchema, annotations). */
    void (*tools)(void *user, struct cm_buf *out);
    /** A tools/call. Answer with cm_mcp_request_result or _error, now or later. args is an object or NULL; borrowed. */
    void (*call)(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args);
    /** The client cancelled, or went away; answer is no longer wanted but cm_mcp_request_result/_error must still be called once. */
    void (*cancel)(void *user, cm_mcp_request *rq);
    /** The client closed its end. */
    void (*closed)(void *user);
};

struct cm_mcp_server_info {
    const char *name, *title, *version;
    const char *instructions;    /* may be NULL */
};

/** Takes both descriptors. */
cm_mcp_server *cm_mcp_server_new(cm_loop *l, int take_in_fd, int take_out_fd, const struct cm_mcp_server_info *info,
                                 const struct cm_mcp_server_ops *ops, void *user);
void cm_mcp_server_free(cm_mcp_server *s);
/** notifications/tools/list_changed, if the client is initialised. */
void cm_mcp_server_tools_changed(cm_mcp_server *s);
/** The caller's own state of a request. */
void cm_mcp_request_set_state(cm_mcp_request *rq, void *state);
void *cm_mcp_request_state(const cm_mcp_request *rq);
/** Answer: text goes into one text block; structured (JSON object text, may be empty) into structuredContent. Frees rq. */
void cm_mcp_request_result(cm_mcp_request *rq, struct cm_str text, struct cm_str structured, bool is_error);
/** A JSON-RPC error (unknown tool, bad arguments). Frees rq. */
void cm_mcp_request_error(cm_mcp_request *rq, int code, const char *message);
/** notifications/progress where the client gave a progressToken; otherwise nothing. */
void cm_mcp_request_progress(cm_mcp_request *rq, double progress, const char *message);

#endif
