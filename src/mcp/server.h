/**
 * mcp server: what a client of codemode talks to. Protocol revisions 2025-11-25, 2025-06-18 (and 2025-03-26,
 * 2024-11-05 read-alike).
 *
 * It knows lifecycle, tools, ping, cancellation and progress, and no runtime: the tools come from a table of
 * callbacks. How messages travel is a struct cm_mcp_carrier; cm_mcp_server_new brings the one for a pair of
 * descriptors.
 *
 * Lenient where the specification allows it: tools may be listed and called before initialize. Strict where
 * leniency would hide a fault: batches, ids that are null or in use, params that are no object are refused.
 * Stdout carries the protocol and nothing else. Whatever a callback does, cm_mcp_server_free included, is
 * safe.
 */
#ifndef CM_MCP_SERVER_H
#define CM_MCP_SERVER_H

#include "base/base.h"
#include "loop/loop.h"
#include "json/json.h"

typedef struct cm_mcp_server cm_mcp_server;
typedef struct cm_mcp_request cm_mcp_request;

struct cm_mcp_server_ops {
    /** Append the JSON array of tools (name, title, description, inputSchema, outputSchema, annotations). */
    void (*tools)(void *user, struct cm_buf *out);
    /** A tools/call. Answer with cm_mcp_request_result or _error, now or later. args is an object or NULL;
     * borrowed. */
    void (*call)(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args);
    /** The client cancelled, or went away; answer is no longer wanted but cm_mcp_request_result/_error must
     * still be called once. */
    void (*cancel)(void *user, cm_mcp_request *rq);
    /** The client closed its end, what it still waited for has been answered (or given up), and all output is
     * written. Comes once. */
    void (*closed)(void *user);
};

/** How many calls may be in flight; one more is refused. */
#define CM_MCP_CALLS_MAX 1024
/** How long answers are still waited for after the client closed its sending half, as `printf … | codemode
 * serve` does. */
#define CM_MCP_LINGER_MS 10000

struct cm_mcp_server_info {
    const char *name, *title, *version;
    const char *instructions; /* may be NULL */
};

/** How messages leave, and what the carrier wants to know. `self` is freed by free with the server. */
struct cm_mcp_carrier {
    cm_status (*send)(void *self, struct cm_str message, struct cm_err *err);
    /** The last call in flight has been answered. Optional. */
    void (*idle)(void *self);
    /** Receive no more. False: nothing more would have come. Optional. */
    bool (*stop)(void *self);
    void (*free)(void *self); /* may be NULL */
    void *self;
};
/** A server over a carrier of the caller's, which gives it what was received. */
cm_mcp_server *cm_mcp_server_new_over(const struct cm_mcp_carrier *carrier,
                                      const struct cm_mcp_server_info *info,
                                      const struct cm_mcp_server_ops *ops, void *user);
void cm_mcp_server_receive(cm_mcp_server *s, struct cm_str message);
/** What could not be read as a message: answered with -32700. */
void cm_mcp_server_receive_garbage(cm_mcp_server *s, struct cm_str head, struct cm_str tail,
                                   const struct cm_err *why);
/** The client went away: all calls in flight are cancelled. `closed` is the carrier's to tell, with
 * cm_mcp_server_tell_closed. */
void cm_mcp_server_hang_up(cm_mcp_server *s);
void cm_mcp_server_tell_closed(cm_mcp_server *s);
/**
 * Take no more requests; `closed` is told once those in flight are answered and all output is written.
 * False: the client has closed its end already.
 */
bool cm_mcp_server_stop(cm_mcp_server *s);
size_t cm_mcp_server_in_flight(const cm_mcp_server *s);

/** Takes both descriptors. */
cm_mcp_server *cm_mcp_server_new(cm_loop *l, int take_in_fd, int take_out_fd,
                                 const struct cm_mcp_server_info *info, const struct cm_mcp_server_ops *ops,
                                 void *user);
/** No callback afterwards. Calls in flight must still be answered once, which then only frees them. */
void cm_mcp_server_free(cm_mcp_server *s);
CM_DEFINE_AUTO(cm_mcp_server, cm_mcp_server_free)
/** notifications/tools/list_changed, if the client is initialised. */
void cm_mcp_server_tools_changed(cm_mcp_server *s);
/** The caller's own state of a request. */
void cm_mcp_request_set_state(cm_mcp_request *rq, void *state);
void *cm_mcp_request_state(const cm_mcp_request *rq);
/**
 * Answer: text goes into one text block; structured (JSON object text, may be empty) into structuredContent.
 * Absent text (ptr NULL) with structured: the block holds the same JSON, for clients that read text only.
 * Frees rq.
 */
void cm_mcp_request_result(cm_mcp_request *rq, struct cm_str text, struct cm_str structured, bool is_error);
/**
 * The same with more content behind that block: `note` a text block of its own, `blocks` the JSON of others, comma separated; each may
 * be empty.
 */
void cm_mcp_request_result_with(cm_mcp_request *rq, struct cm_str text, struct cm_str note,
                                struct cm_str blocks, struct cm_str structured, bool is_error);
/** A JSON-RPC error (unknown tool, bad arguments). Frees rq. */
void cm_mcp_request_error(cm_mcp_request *rq, int code, const char *message);
/**
 * notifications/progress where the client gave a progressToken; otherwise nothing. The value must rise: one
 * that does not is sent as the last one plus one. message may be NULL.
 */
void cm_mcp_request_progress(cm_mcp_request *rq, double progress, const char *message);

#endif
