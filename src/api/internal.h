/** What the files of api share. */
#ifndef CM_API_INTERNAL_H
#define CM_API_INTERNAL_H

#include "api/api.h"
#include "api/control.h"
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
    char *store_option; /* as given to cm_open, NULL: as configured */
    bool runtime_given;
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

    /* Being asked by other processes (control.c). */
    char *listen_path; /* NULL: not tried yet, or there is none */
    int listen_fd;
    cm_watch *listen;
    struct cm_api__conn *conns;
    unsigned n_conns;

    cm_on_event_fn on_event;
    void *on_event_user;
    cm_on_result_fn on_result;
    void *on_result_user;

    void **kept; /* what cm_add_tool's callbacks are bound to */
    size_t n_kept;
};

struct cm_op {
    cm_ctx *ctx;
    cm_exec *exec;    /* of this process, or NULL */
    cm_api__ask *ask; /* another process does it */
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

/** ---- run.c: operations ---- */

/** An operation for which nothing has begun yet. */
cm_op *cm_api__op_new(cm_ctx *ctx, cm_done_fn fn, void *user);
/** Forget it, without its callback. */
void cm_api__op_drop(cm_op *op);
/** It has ended: calls back, and is gone. */
void cm_api__op_end(cm_op *op, cm_outcome *take_outcome, const struct cm_err *err);
/** cm_exec_fn of an operation. */
void cm_api__on_exec_end(void *user, enum cm_exec_state state, struct cm_str outcome_json,
                         const struct cm_err *err);
struct cm_api__waiting {
    bool done;
    cm_outcome *outcome;
    struct cm_err err;
};
/** cm_done_fn into a struct cm_api__waiting, and turning the loop until it has come. */
void cm_api__on_waited(void *user, cm_outcome *take_outcome, const struct cm_err *err);
cm_status cm_api__wait_for(cm_ctx *ctx, struct cm_api__waiting *w, cm_outcome **out, struct cm_err *err);

/** ---- decide.c ---- */

/** Do in this process what a request (control.h) says. *op NULL with CM_OK: it is done, and fn is not called. */
cm_status cm_api__op_request(cm_ctx *ctx, struct cm_str request, cm_done_fn fn, void *user, cm_op **op,
                             struct cm_err *err);
/** The same for an operation that another process did not take; it may be gone afterwards. */
void cm_api__op_act(cm_op *op, struct cm_str request);

/** Append what reverts and transformResult name, with what of it is not there; connectors have been waited for. False: something is not. */
bool cm_api__check_reverts(cm_ctx *ctx, struct cm_buf *b);
/** The embedder's callbacks, into the options of a runtime. */
void cm_api__listen(cm_ctx *ctx, struct cm_runtime_opts *opts);

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
