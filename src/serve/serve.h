/**
 * serve: codemode as an MCP server with one tool, `codemode`, whose argument is a program and whose answer is
 * the outcome.
 *
 * It binds mcp/server.h to a context and decides nothing. Start with stdio.c; tool.c is what a client is
 * shown. Invariants: descriptor 1 of the process carries nothing but the protocol (it is moved away, and 1
 * becomes 2, before anything else runs). Every request is answered exactly once; cancelling one cancels its
 * execution.
 */
#ifndef CM_SERVE_SERVE_H
#define CM_SERVE_SERVE_H

#include "api/api.h"
#include "json/json.h"

/**
 * Serve standard input and output until the client closes its end or a signal comes. Connectors start in the
 * background; each that fails is named on stderr once. SIGTERM lets what is in flight come to its end, for a
 * few seconds; what runs then, or at SIGINT, SIGHUP or a second SIGTERM, is cancelled, and answered while the
 * client can still read.
 *
 * Errors: CM_E_IO  the descriptors.     Blocks: until the end.
 */
cm_status cm_serve_stdio(cm_ctx *ctx, struct cm_err *err);

/** Append the array of tools as tools/list has it. */
void cm_serve__tools(cm_ctx *ctx, struct cm_buf *out);
/** The program in the arguments of a call, or a sentence that says what would be accepted. */
cm_status cm_serve__program(yyjson_val *args, struct cm_str *code, struct cm_err *err);
/** What failed and where, for a model that reads text: NULL when there is no place to show. Owned. */
char *cm_serve__failure(const cm_outcome *o);
/** What a model is told of a paused program: what waits, who must approve it and how, and not to send it again. Owned. */
char *cm_serve__paused(const cm_ctx *ctx, const cm_outcome *o);
/**
 * The images of a result as content blocks, comma separated, and the outcome with {"$content": N} in their places; nothing is
 * appended where there are none.
 */
void cm_serve__images(struct cm_str outcome, struct cm_buf *shown, struct cm_buf *blocks);
/** Append an outcome for a run that never began. */
void cm_serve__refusal(struct cm_buf *out, const struct cm_err *err);

#endif
