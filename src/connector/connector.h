/**
 * connector: a service as a table of typed methods - an MCP server, an OpenAPI description, a tool set,
 * callbacks of the embedder.
 *
 * It defines and runs methods. It does not log, approve or count: the runtime does, and calls
 * cm_connector_call only with canonical arguments it has decided to send. Start with struct cm_connector_ops;
 * an implementation is one file that fills it.
 *
 * Invariants: method names are unique JavaScript identifiers within a connector, and no two upstream names
 * become one silently: the later is left out and named in cm_connector_warnings. One bad tool, schema or
 * operation never takes the others down. A call's callback runs exactly once, never inside cm_connector_call,
 * also after cm_call_cancel. Secrets stay here: everything that leaves (results, messages) has passed
 * cm_secrets_redact.
 */
#ifndef CM_CONNECTOR_CONNECTOR_H
#define CM_CONNECTOR_CONNECTOR_H

#include "base/base.h"
#include "base/secrets.h"
#include "loop/loop.h"
#include "json/json.h"
#include "json/value.h"

#include <stdint.h>

typedef struct cm_connector cm_connector;
typedef struct cm_call cm_call;

enum cm_method_flag {
    CM_METHOD_REQUIRES_APPROVAL = 1,
    CM_METHOD_READ_ONLY = 2,
    CM_METHOD_IDEMPOTENT = 4,
    CM_METHOD_REEXECUTE = 8, /* its result is not stored; it runs again on every replay */
    CM_METHOD_HAS_REVERT = 16,
    CM_METHOD_DESTRUCTIVE = 32,
};

/** One method. All text is NUL-terminated and lives as long as the connector's current method table. */
struct cm_method {
    const char *name;        /* identifier in the program */
    const char *origin;      /* the upstream's own name: an MCP tool's, "GET /pets/{id}", … */
    const char *description; /* may be "" ; never NULL */
    unsigned flags;          /* enum cm_method_flag */
    uint32_t timeout_ms;     /* 0: the connector's */
};

/** A schema in its document, so that references resolve. node NULL: none known. Borrowed, like the method
 * table. */
struct cm_schema_ref {
    yyjson_val *root;
    yyjson_val *node;
};

/** What a call gave. `failed`: value is an error object {name, message, …upstream fields}, marked "error" at
 * "". */
struct cm_outcome_value {
    bool failed;
    struct cm_value value;
};
/** Runs once. `out` is borrowed for the duration of the callback. */
typedef void (*cm_call_fn)(void *user, const struct cm_outcome_value *out);

enum cm_connector_state { CM_CONN_IDLE, CM_CONN_STARTING, CM_CONN_READY, CM_CONN_FAILED };
typedef void (*cm_connector_fn)(void *user, cm_connector *c);

/** Implemented by each kind. `self` is what the kind's constructor made. */
struct cm_connector_ops {
    const char *kind; /* "mcp", "openapi", "toolset", "native" */
    /**
     * Become ready: connect, load, list. Must end in cm_connector__ready or cm_connector__failed, now or
     * later. Comes again after a failure, and after a start that took too long: what is still under way from
     * the last time is dropped first.
     */
    void (*start)(void *self, cm_connector *c);
    /** The method table; valid while READY. */
    size_t (*methods)(void *self, const struct cm_method **out);
    /** Input and output schema of method i; computed on demand, kept by the connector. NULL: none known for
     * any method. */
    void (*schemas)(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output);
    /** Whether it would send these arguments at all; asked before a human is, and of what the schema lets pass. CM_E_INVALID or
     * CM_E_DENIED with a sentence. NULL: the schema says all. */
    cm_status (*check)(void *self, size_t i, struct cm_value args, struct cm_err *err);
    /** Guidance for the model, or NULL. */
    const char *(*instructions)(void *self);
    /** Send. `args` is canonical and borrowed for the duration of this call; finish with cm_call__finish or
     * cm_call__fail. */
    void (*call)(void *self, size_t i, struct cm_value args, cm_call *call);
    /** Undo call i with the args it had and the result it gave; finish as `call` does. NULL: no method has a
     * revert. */
    void (*revert)(void *self, size_t i, struct cm_value args, struct cm_value result, cm_call *call);
    /**
     * Stop it upstream if that can be done, and let go of `call`: it is already finished for the caller and
     * is not touched again. NULL: nothing can be stopped, and the implementation still finishes each call,
     * which then goes nowhere.
     */
    void (*cancel)(void *self, cm_call *call);
    /**
     * A pass of an execution has ended ("paused", "completed", …), whether it used this connector or not; and: an execution has
     * ended, or was rolled back after its end, and nothing of it is needed any more. Must be quick and do no harm when they come
     * again. NULL: nothing is kept for executions.
     */
    void (*pass_end)(void *self, const char *execution, const char *status);
    void (*dispose)(void *self, const char *execution, const char *status);
    /** Release everything; calls in flight have been cancelled. */
    void (*free)(void *self);
};

/** ---- for the runtime and the catalogue ---- */

/** Takes `self` (freed by ops->free). name, origin ("mcpServers.github in 'x.json'") are copied. timeout_ms
 * is the default of a call. */
cm_connector *cm_connector_new(cm_loop *loop, const struct cm_connector_ops *ops, void *take_self,
                               const char *name, const char *origin, uint32_t start_timeout_ms,
                               uint32_t timeout_ms, const cm_secrets *secrets);
/** Calls in flight end as cancelled, their callbacks run inside; waiting ensures are dropped. May be called
 * from any callback. */
void cm_connector_free(cm_connector *c);
CM_DEFINE_AUTO(cm_connector, cm_connector_free)
const char *cm_connector_name(const cm_connector *c);
const char *cm_connector_kind(const cm_connector *c);
const char *cm_connector_origin(const cm_connector *c);
enum cm_connector_state cm_connector_state(const cm_connector *c);
/** Why it FAILED: a sentence with the connector's name in it; "" otherwise. Redacted. */
const char *cm_connector_error(const cm_connector *c);
/** Things left out, one sentence each. Borrowed until the next start. */
size_t cm_connector_warnings(const cm_connector *c, const char *const **out);
const char *cm_connector_instructions(const cm_connector *c);
/**
 * Make it ready if it is not: fn runs once (never inside this call) when it is READY or FAILED. Starts it
 * when IDLE; a FAILED one is tried again at most every 5 seconds, otherwise its old error stands. fn may be
 * NULL.
 */
void cm_connector_ensure(cm_connector *c, cm_connector_fn fn, void *user);
/** Forget a waiting ensure whose user goes away. */
void cm_connector_forget(cm_connector *c, void *user);
/** Own names only. -1 when there is no such method (or it is not READY). */
long cm_connector_find(const cm_connector *c, struct cm_str method);
size_t cm_connector_methods(const cm_connector *c, const struct cm_method **out);
/** Another number for each method table that it has had, 0 while it is not READY: whoever keeps something made
 * from the table compares this, since a new table may stand where the old one did. */
uint64_t cm_connector_generation(const cm_connector *c);
void cm_connector_schemas(const cm_connector *c, size_t i, struct cm_schema_ref *input,
                          struct cm_schema_ref *output);
/** Whether method i would be sent with these canonical args, beyond what its schema says. */
cm_status cm_connector_check(const cm_connector *c, size_t i, struct cm_value args, struct cm_err *err);
/**
 * Call method i with canonical args. *out is valid until fn returned. After timeout_ms the call fails with
 * code "timeout" and is cancelled upstream.
 */
void cm_connector_call(cm_connector *c, size_t i, struct cm_value args, cm_call_fn fn, void *user,
                       cm_call **out);
/** As cm_connector_call, for the revert of an earlier call of method i (CM_METHOD_HAS_REVERT) with those args
 * and that result. */
void cm_connector_revert(cm_connector *c, size_t i, struct cm_value args, struct cm_value result,
                         cm_call_fn fn, void *user, cm_call **out);
/** The execution that calls and reverts belong to from here on, until another is named; copied. The call has it (cm_call__execution). */
void cm_connector_serve(cm_connector *c, const char *execution);
/** The hooks of the same names; also of one that is not READY. */
void cm_connector_pass_end(cm_connector *c, const char *execution, const char *status);
void cm_connector_dispose(cm_connector *c, const char *execution, const char *status);
/** fn runs soon with a failure of code "cancelled". False: with an outcome that is on its way already. */
bool cm_call_cancel(cm_call *call);
/** What a program should be told about a name that does not exist: "github has no method 'x'. Did you mean
 * …". Owned. */
char *cm_connector_unknown(const cm_connector *c, struct cm_str method);

/** ---- for implementations ---- */

void cm_connector__ready(cm_connector *c);
void cm_connector__failed(cm_connector *c, const struct cm_err *err);
/** Note something that was left out. */
void cm_connector__warn(cm_connector *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const cm_secrets *cm_connector__secrets(const cm_connector *c);
/** What the kind's constructor made, or NULL when the connector is of another kind than `ops`. */
void *cm_connector__self(const cm_connector *c, const struct cm_connector_ops *ops);
/** The implementation's own state of a call; freed by it before finishing, or in cancel. */
void cm_call__set_state(cm_call *call, void *state);
void *cm_call__state(const cm_call *call);
uint32_t cm_call__timeout_ms(const cm_call *call);
/** Append {"args": …, "result": …}, what a revert is given. */
cm_status cm_connector__revert_json(struct cm_value args, struct cm_value result, struct cm_buf *out,
                                    struct cm_err *err);
/** The execution that it belongs to, "" where none was named. Borrowed while the call lives. */
const char *cm_call__execution(const cm_call *call);
/** The method's name, borrowed while the call lives. */
const char *cm_call__method(const cm_call *call);
/** Finish with a value (copied, redacted). */
void cm_call__finish(cm_call *call, struct cm_value value);
/** Finish with JSON text of the outside, by cm_value_from_json; empty text is undefined. */
void cm_call__finish_json(cm_call *call, struct cm_str json);
/** Finish with bytes: a Uint8Array in the program. */
void cm_call__finish_bytes(cm_call *call, struct cm_str bytes);
/** Finish with a failure. `code` may be NULL; fields_json (an object's members for the error, may be empty)
 * e.g. {"status":404}. */
void cm_call__fail(cm_call *call, const char *code, struct cm_str fields_json, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
