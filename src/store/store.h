/**
 * store: executions, calls and logs in SQLite. sqlite3.h stays inside this folder.
 *
 * It keeps facts and enforces order; it decides nothing. What is a legal move of an execution is a
 * conditional write here
 * (`…WHERE status IN …`) so that two processes on one store end with one winner. Start with schema.sql.h,
 * whose tables are what replay, approvals and rollback read: sequence at issue, delivery order, canonical
 * bytes with their marks and hash, decision and rule, intent before effect, outcome after.
 *
 * Invariants: file 0600, in a directory of 0700 where we make it; WAL; a newer schema version is refused. A short log
 * stays beside the file when the store is closed (open.c): who copies a store copies both.
 *
 * Durability. Writes gather in a group, one transaction, which cm_store_commit ends: without `sync` the
 * kernel has it (it survives the end of this process), with `sync` the disk has it (it survives the machine),
 * together with everything before it. cm_store_finish and an intent with `sync` do that themselves; whoever
 * writes anything else commits at the end of the loop's turn, since an open group keeps other processes from
 * writing. A crash thus loses at most the last turn's records of calls that are safe to run again, never an
 * intent whose call was sent with `sync`, and never what was told to anyone. A group that cannot be committed
 * is gone; cm_store_losses counts it, and whoever had records in it must not claim that it has.
 */
#ifndef CM_STORE_STORE_H
#define CM_STORE_STORE_H

#include "base/base.h"
#include "json/value.h"

#include <stdint.h>

typedef struct cm_store cm_store;

/* clang-format off */
#define CM_EXEC_STATE_MAP(X)        \
    X(RUNNING, "running")           \
    X(PAUSED, "paused")             \
    X(COMPLETED, "completed")       \
    X(ERROR, "error")               \
    X(REJECTED, "rejected")         \
    X(ROLLED_BACK, "rolled_back")   \
    X(CANCELLED, "cancelled")       \
    X(EXPIRED, "expired")

#define CM_CALL_STATE_MAP(X)        \
    X(PENDING, "pending")           \
    X(EXECUTING, "executing")       \
    X(APPLIED, "applied")           \
    X(FAILED, "failed")             \
    X(UNKNOWN, "unknown")           \
    X(REJECTED, "rejected")         \
    X(CANCELLED, "cancelled")       \
    X(REVERTED, "reverted")
/* clang-format on */

enum cm_exec_state {
#define CM_EXEC_ENUM_(n, t) CM_EXEC_##n,
    CM_EXEC_STATE_MAP(CM_EXEC_ENUM_)
#undef CM_EXEC_ENUM_
        CM_EXEC_STATE_COUNT_
};
enum cm_call_state {
#define CM_CALLST_ENUM_(n, t) CM_CALL_##n,
    CM_CALL_STATE_MAP(CM_CALLST_ENUM_)
#undef CM_CALLST_ENUM_
        CM_CALL_STATE_COUNT_
};
const char *cm_exec_state_text(enum cm_exec_state s);
const char *cm_call_state_text(enum cm_call_state s);

/** "sqlite:PATH" (made with its folder when missing) or "memory:". Errors: CM_E_CONFLICT newer schema;
 * CM_E_IO names path and reason. */
cm_status cm_store_open(const char *where, cm_store **out, struct cm_err *err);
void cm_store_close(cm_store *s);
CM_DEFINE_AUTO(cm_store, cm_store_close)

struct cm_exec_row {
    const char *id, *runtime;
    struct cm_str code;
    enum cm_exec_state state;
    uint8_t seed[16];
    const char *connectors_json; /* names configured at begin */
    struct cm_value input;
    bool has_result;
    struct cm_value result;
    struct cm_str error_json; /* empty: none */
    struct cm_str logs_json;  /* array of {level, text}; empty: none */
    struct cm_str warnings_json;
    int64_t created_at, updated_at, ended_at; /* epoch ms; 0: not yet */
    uint32_t passes;
};

struct cm_call_row {
    uint32_t seq;       /* dense from 0 at issue, over every kind */
    uint8_t kind;       /* enum cm_call_kind of the wire */
    int64_t parent_seq; /* the step it runs in, or -1 */
    const char *connector, *method;
    struct cm_value args;  /* canonical */
    const char *args_hash; /* "sha256:…" over json, one NUL, marks */
    const char *decision;  /* "execute", "pause", "refuse", "replay" */
    const char *rule;      /* what decided: "policy[2] *.delete_*", "tool: requiresApproval", "default" */
    unsigned method_flags; /* enum cm_method_flag at that time */
    enum cm_call_state state;
    bool has_outcome, failed;
    struct cm_value outcome;
    int64_t delivery;     /* order of delivery within the execution, from 1; 0: not delivered */
    int64_t delivered_at; /* the clock that the program saw */
    int64_t started_at, ended_at;
    uint32_t line, column;
};

/**
 * End the open group, if any; with `sync` wait for the disk (0.3 ms on the development machine). After an
 * error the group's records are lost.
 */
cm_status cm_store_commit(cm_store *s, bool sync, struct cm_err *err);
/** How many groups could not be committed since the store was opened. */
unsigned cm_store_losses(const cm_store *s);
/** Why the newest of them could not. Borrowed; of no meaning before the first. */
const struct cm_err *cm_store_loss(const cm_store *s);

/** Insert a RUNNING execution; the first one takes the lock that says that this process is alive (owner.c).
 */
cm_status cm_store_begin(cm_store *s, const struct cm_exec_row *row, struct cm_err *err);
/**
 * Conditional move with what goes with it: only from a state in from_mask (1u << state). Blocks until synced.
 * Errors: CM_E_CONFLICT names the state it is in; CM_E_NOT_FOUND.
 */
cm_status cm_store_finish(cm_store *s, const char *id, unsigned from_mask, const struct cm_exec_row *row,
                          struct cm_err *err);
/**
 * The intent: must return before the call is sent. sync: wait for the disk (calls that are neither read-only
 * nor idempotent). A row may carry its outcome already (a call that was refused). Errors: CM_E_CONFLICT the
 * execution is not running.
 */
cm_status cm_store_call_intent(cm_store *s, const char *id, const struct cm_call_row *row, bool sync,
                               struct cm_err *err);
/** The outcome of an intent, and its delivery. Errors: CM_E_CONFLICT nothing waits for it. */
cm_status cm_store_call_outcome(cm_store *s, const char *id, const struct cm_call_row *row,
                                struct cm_err *err);
/** Calls still EXECUTING become UNKNOWN (their outcome will never be known). */
cm_status cm_store_calls_abandon(cm_store *s, const char *id, struct cm_err *err);
/**
 * Running executions whose process is gone become ERROR with code "interrupted", their calls in flight
 * UNKNOWN. Done at open, and worth doing before a listing. *n (may be NULL): how many. Blocks for a sync when
 * there were any.
 */
cm_status cm_store_recover(cm_store *s, size_t *n, struct cm_err *err);

/**
 * Reading: fn gets each row, borrowed for the duration of the call; returning false stops. fn must not call
 * the store. What a row holds is as it was written, unless something else wrote into the file: JSON in it is
 * to be parsed with care.
 */
typedef bool (*cm_exec_row_fn)(void *user, const struct cm_exec_row *row);
typedef bool (*cm_call_row_fn)(void *user, const struct cm_call_row *row);
/** Newest first. runtime NULL: all. with_code false (a listing) gives the first 1000 characters of code, and
 * no input, result and logs. */
cm_status cm_store_executions(cm_store *s, const char *runtime, size_t limit, bool with_code,
                              cm_exec_row_fn fn, void *user, struct cm_err *err);
cm_status cm_store_execution(cm_store *s, const char *id, cm_exec_row_fn fn, void *user, struct cm_err *err);
cm_status cm_store_calls(cm_store *s, const char *id, cm_call_row_fn fn, void *user, struct cm_err *err);
/** CM_E_NOT_FOUND; CM_E_CONFLICT while running or paused. */
cm_status cm_store_delete(cm_store *s, const char *id, struct cm_err *err);
/** Delete terminal executions of this runtime beyond the newest `keep`; *n (may be NULL) how many. */
cm_status cm_store_prune(cm_store *s, const char *runtime, size_t keep, size_t *n, struct cm_err *err);
/** {"path","schema","journal","executions"} for `check`. */
cm_status cm_store_info(cm_store *s, struct cm_buf *out, struct cm_err *err);

#endif
