/** What the files of api share. */
#ifndef CM_API_INTERNAL_H
#define CM_API_INTERNAL_H

#include "api/api.h"
#include "catalog/catalog.h"
#include "connector/connector.h"
#include "runtime/runtime.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

/** The most text that one answer to an embedder may have. */
#define CM_API__TEXT_MAX_BYTES (256u << 20)

struct cm_ctx {
    cm_loop *loop;
    cm_config *config;
    struct cm_limits limits;
    char *runtime_name;
    cm_store *store;
    cm_sandbox *sandbox;

    cm_connector **connectors; /* the configured ones in their order, then those of cm_add_tool */
    size_t n_connectors;
    size_t n_configured;
    cm_connector *fetch; /* NULL: off */

    /* Made at first use, and anew after a connector was added: both keep the list they were made with. */
    cm_catalog *catalog;
    cm_runtime *runtime;

    cm_op *ops; /* under way */
    int wake_fd;
    cm_watch *wake;
    int turning; /* depth of loop turns: a blocking call from a callback would turn the loop within itself */
    bool interrupted;
    cm_api_connector_fn on_connector;
    void *on_connector_user;

    void **kept; /* what cm_add_tool's callbacks are bound to */
    size_t n_kept;
};

struct cm_op {
    cm_ctx *ctx;
    cm_exec *exec;
    cm_done_fn fn;
    void *user;
    bool cancelled;
    cm_op *next, **link;
};

/** Runtime and catalogue, made when they are not there. */
cm_status cm_api__runtime(cm_ctx *ctx, struct cm_err *err);
cm_status cm_api__catalog(cm_ctx *ctx, struct cm_err *err);
/** The runtime, and a catalogue that knows the snippets there are now. */
cm_status cm_api__know_snippets(cm_ctx *ctx, struct cm_err *err);
/** Drop both; only while nothing is under way. */
void cm_api__drop_runtime(cm_ctx *ctx);
/** CM_E_CONFLICT when called from one of the loop's callbacks. Forgets an interruption of before. */
cm_status cm_api__may_block(cm_ctx *ctx, struct cm_err *err);
void cm_api__cancel_all(cm_ctx *ctx);

/** Connectors of the configuration, in its order, and `fetch` where it names hosts. CM_E_CONFIG: it names one that is none. */
cm_status cm_api__make_connectors(cm_ctx *ctx, struct cm_err *err);
void cm_api__free_connectors(cm_ctx *ctx);
/** Append to the list; takes c. */
void cm_api__add_connector(cm_ctx *ctx, cm_connector *take_c);
cm_connector *cm_api__find_connector(const cm_ctx *ctx, struct cm_str name);
/**
 * Start the connector of this path ("name" or "name.method"), or all when it names none, and wait until READY
 * or FAILED. For all, and when not patient, at most some seconds: then some may still be STARTING.
 */
cm_status cm_api__await_connectors(cm_ctx *ctx, const char *path, bool patient, struct cm_err *err);

/** Takes JSON text of an outcome. */
cm_outcome *cm_api__outcome_new(char *take_json, size_t len);
/** Hand a finished text to the embedder, with every secret taken out. */
cm_status cm_api__give(const cm_ctx *ctx, struct cm_buf *b, char **out, struct cm_err *err);
/**
 * Normalise `code` in the sandbox: its text as it would run. `meta`, unless NULL, gets what the worker says besides:
 * {"warnings"}, or {"error"} where this fails with CM_E_INVALID.
 */
cm_status cm_api__normalize(cm_ctx *ctx, struct cm_str code, struct cm_buf *out, struct cm_buf *meta,
                            struct cm_err *err);

#endif
