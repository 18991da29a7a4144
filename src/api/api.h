/**
 * api: implements <codemode.h>. One context binds configuration, connectors, store, sandbox and runtime to
 * one loop.
 *
 * It decides nothing itself; it waits. Every blocking function turns the loop until its answer is there. This
 * header is for `serve` and `cli`, which need the context's parts; everyone else has codemode.h. Start with
 * context.c. Invariants: opening reaches no connector and waits for no worker. No signal handler is
 * installed, nothing is printed.
 */
#ifndef CM_API_API_H
#define CM_API_API_H

#include "base/base.h"
#include "config/config.h"
#include "loop/loop.h"

CM_DEFINE_AUTO(cm_ctx, cm_close)
CM_DEFINE_AUTO(cm_outcome, cm_outcome_free)

cm_loop *cm_api_loop(const cm_ctx *ctx);
/** Told of each connector once it is READY (error NULL) or FAILED. */
typedef void (*cm_api_connector_fn)(void *user, const char *name, const char *error);
/** Start every connector that is not started. Does not wait. fn may be NULL; no call of it after cm_close. */
void cm_api_start_connectors(cm_ctx *ctx, cm_api_connector_fn fn, void *user);
/** Told of an execution that could not be resumed and stays paused; id NULL: none could, for this reason. */
typedef void (*cm_api_interrupted_fn)(void *user, const char *id, const char *error);
/**
 * Go on with every execution that waits for nobody: those that were interrupted. Their outcomes stand in the record. Does not wait for them;
 * fn is called from inside only.
 */
void cm_api_resume_interrupted(cm_ctx *ctx, cm_api_interrupted_fn fn, void *user);
/** Wait for events and handle them once. */
void cm_api_turn(cm_ctx *ctx);
/** What an operation is doing, for a client that waits: "3 calls, waiting for github.search". Owned by the
 * caller. */
char *cm_api_op_progress(const cm_op *op);
/**
 * Wait until another process has changed the store since *version (0: do not wait), which becomes the number it has now.
 * Errors: CM_E_CANCELLED interrupted.
 */
cm_status cm_api_await_change(cm_ctx *ctx, int64_t *version, struct cm_err *err);
/** "codemode WORDS" with the options that lead another process to this context's store and runtime. Owned by the caller. */
char *cm_api_command(const cm_ctx *ctx, const char *words);
/** Append a blank and the word, as a POSIX shell reads it back. */
void cm_api_add_word(struct cm_buf *b, const char *word);
/** What cm_outcome_error_frame says of an outcome's `error`, owned. */
char *cm_api_frame(yyjson_val *error);
/**
 * What `codemode normalize` shows, owned by the caller: {"code", "warnings"}. Errors: CM_E_INVALID the program
 * cannot be read; *json is then {"error", "warnings"}, or untouched where memory is short.
 */
cm_status cm_api_normalize(cm_ctx *ctx, struct cm_str code, char **json, struct cm_err *err);
/**
 * A bare document as declarations, without a context's connectors: {"operations", "skipped", "types"} of an
 * OpenAPI description, or the TypeScript of a JSON Schema file under `name` (NULL: its title, else "Schema").
 */
cm_status cm_api_types_openapi(const char *path, const char *name, char **json, struct cm_err *err);
cm_status cm_api_types_schema(const char *path, const char *name, char **text, struct cm_err *err);

#endif
