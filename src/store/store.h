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
 * together with everything before it. cm_store_finish and an intent with `sync` do that themselves, unless
 * somebody waits for the disk on another thread (cm_store_defer, disk.c; ADR 8 has who waits for what); whoever
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
    struct cm_str limits_json;   /* what this run's limits were lowered to; empty: as configured */
    struct cm_value input;
    bool has_result;
    struct cm_value result;
    struct cm_str error_json; /* empty: none */
    struct cm_str logs_json;  /* array of {level, text}; empty: none */
    struct cm_str warnings_json;
    int64_t created_at, updated_at, ended_at; /* epoch ms; 0: not yet */
    uint32_t passes;
    uint32_t interruptions; /* processes that died under it since somebody let it go on; not written */
};

struct cm_call_row {
    uint32_t seq;       /* dense from 0 at issue, over every kind */
    uint8_t kind;       /* enum cm_call_kind of the wire */
    int64_t parent_seq; /* the step it runs in, or -1 */
    uint32_t
        ordinal; /* among the calls that were issued in the same step, from 1; 0: not known (an older file) */
    const char *connector, *method;
    struct cm_value args;  /* canonical */
    const char *args_hash; /* "sha256:…" over json, one NUL, marks */
    const char *decision; /* "execute", "pause", "refuse", "replay"; "ask": it was sent, and has no outcome */
    const char *rule;     /* what decided: "policy[2] *.delete_*", "tool: requiresApproval", "default" */
    unsigned method_flags; /* enum cm_method_flag at that time */
    enum cm_call_state state;
    bool has_outcome, failed;
    struct cm_value outcome;
    int64_t delivery;     /* order of delivery within the execution, from 1; 0: not delivered */
    int64_t delivered_at; /* the clock that the program saw */
    int64_t started_at, ended_at;
    uint32_t line, column;
    /* What a human said of a pending call. One that was approved stays PENDING, with decided_at, until it is sent. */
    int64_t decided_at;              /* epoch ms; 0: nobody has */
    const char *decided_by, *reason; /* "": not told */
    struct cm_value
        asked; /* as the program gave them, where the human sent other arguments; absent otherwise */
    const char *asked_hash;
    struct cm_str code;  /* of a snippet that the call runs, as it was then */
    int64_t reverted_at; /* 0: it was not */
    const char *revert_error;
    /* A revert was sent then, and nothing says that it failed: without reverted_at its outcome is unknown. 0: none was, or it failed. */
    int64_t revert_started_at;
    const char *revert_by; /* who asked for it; "": not told */
    unsigned dropped;      /* enum cm_call_part that were taken out of the record */
};

/** What may be taken out of the record of a call when its execution has ended. */
enum cm_call_part { CM_CALL_ARGS = 1, CM_CALL_OUTCOME = 2 };

/** A human's decision on one pending call. */
struct cm_decision_row {
    bool approve;
    int64_t at;
    const char *by, *reason; /* NULL: not told */
    struct cm_value args;    /* approve with these in place of the program's; absent: with the program's */
    const char *args_hash;
    struct cm_value outcome; /* of a rejection: the error that the program gets */
};

/** A program that somebody kept. */
struct cm_snippet_row {
    const char *runtime, *name, *description;
    struct cm_str code;
    struct cm_str input_schema; /* JSON; empty: any input */
    const char *connectors_json;
    const char *execution; /* the one it was taken from */
    int64_t saved_at;
};

/** Open a group: what is read from here on stands until it is committed, since no other process can write. */
cm_status cm_store_hold(cm_store *s, struct cm_err *err);
/**
 * Several writes that stand together or not at all, within the group: mark, write, and after a failure go back to the mark, which takes
 * back what was written since and nothing else. A commit, or another mark, forgets the mark; without one cm_store_back does nothing.
 */
cm_status cm_store_mark(cm_store *s, struct cm_err *err);
void cm_store_back(cm_store *s);
/**
 * End the open group, if any; with `sync` wait for the disk (0.1 to 0.3 ms on the development machine). After an
 * error the group's records are lost.
 */
cm_status cm_store_commit(cm_store *s, bool sync, struct cm_err *err);
/**
 * From now on somebody waits for the disk elsewhere: what says "blocks until synced" leaves its records in the open group and returns. Who
 * said this ends the group (cm_store_commit without sync) and then has the log synced before anybody is told of them. Nor is the log
 * moved into the database while it grows (cm_store_checkpoint). cm_store_commit with sync blocks as ever.
 */
void cm_store_defer(cm_store *s, bool deferred);
/**
 * The file whose fdatasync, on any thread, makes every commit durable that returned before it began; -1: there is nothing to wait for
 * (memory), or err says why it cannot be opened. Borrowed until the store is closed.
 */
int cm_store_log_fd(cm_store *s, struct cm_err *err);
/** The wait failed with this errno: what was committed since the last one is lost, as after cm_store_commit with sync. */
void cm_store_sync_failed(cm_store *s, int eno, struct cm_err *err);
/** How long the log is; while deferred, otherwise 0. */
size_t cm_store_log_pages(const cm_store *s);
/**
 * Move the log into the database, which waits for the disk; the one function besides fdatasync that another thread may call, while the
 * store stays open. It keeps nobody from writing, unless with `wait`: then it waits for whoever writes, and the log is empty afterwards.
 * False: not all of it was moved; what was written meanwhile is there for the next time.
 */
bool cm_store_checkpoint(const cm_store *s, bool wait);
/** How many groups could not be committed since the store was opened. */
unsigned cm_store_losses(const cm_store *s);
/** Why the newest of them could not. Borrowed; of no meaning before the first. */
const struct cm_err *cm_store_loss(const cm_store *s);

/** Insert a RUNNING execution; the first one takes the lock that says that this process is alive (owner.c).
 */
cm_status cm_store_begin(cm_store *s, const struct cm_exec_row *row, struct cm_err *err);
/**
 * Conditional move with what goes with it: only from a state in from_mask (1u << state), and only a move that is one (moves.h). Blocks until synced.
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
/**
 * A human's decision, once: only on a call that is PENDING and undecided, of an execution that is paused or running. In the open group:
 * commit with sync before anybody is told.
 *
 * Errors: CM_E_CONFLICT somebody decided before, or the execution has ended; CM_E_NOT_FOUND.
 */
cm_status cm_store_call_decide(cm_store *s, const char *id, uint32_t seq, const struct cm_decision_row *d,
                               struct cm_err *err);
/** An approved call becomes EXECUTING: its intent, as cm_store_call_intent's. Errors: CM_E_CONFLICT it is not approved, or not running. */
cm_status cm_store_call_start(cm_store *s, const char *id, uint32_t seq, int64_t at, bool sync,
                              struct cm_err *err);
/** An outcome that was recorded without a delivery (a rejection) is delivered. */
cm_status cm_store_call_deliver(cm_store *s, const char *id, uint32_t seq, int64_t delivery, int64_t at,
                                struct cm_err *err);
/** A call whose outcome nobody will know is asked about: EXECUTING or UNKNOWN becomes PENDING and undecided. `rule` says why. */
cm_status cm_store_call_ask(cm_store *s, const char *id, uint32_t seq, const char *rule, struct cm_err *err);
/**
 * The intent of a revert, of an execution that has ended; blocks until synced: what is sent afterwards is never forgotten. `expected` is
 * the revert_started_at that the caller has seen, so that of two who roll back one sends it.
 *
 * Errors: CM_E_CONFLICT it was reverted, another one has begun to, or the execution runs or is paused; CM_E_NOT_FOUND.
 */
cm_status cm_store_call_revert_start(cm_store *s, const char *id, uint32_t seq, int64_t at, int64_t expected,
                                     const char *by, struct cm_err *err);
/** A call was reverted (error NULL), or was not, for certain. Of any execution that does not run. */
cm_status cm_store_call_revert(cm_store *s, const char *id, uint32_t seq, int64_t at, const char *error,
                               struct cm_err *err);
/** A revert was sent, and what became of it is not known; `error` says why. */
cm_status cm_store_call_revert_unsure(cm_store *s, const char *id, uint32_t seq, const char *error,
                                      struct cm_err *err);
/** An execution that has ended becomes ROLLED_BACK. Blocks until synced. Errors: CM_E_CONFLICT it runs or is paused; CM_E_NOT_FOUND. */
cm_status cm_store_rolled_back(cm_store *s, const char *id, int64_t at, struct cm_err *err);
/** Take parts (enum cm_call_part) out of the record of a call; its hash stays. In the open group. */
cm_status cm_store_call_drop(cm_store *s, const char *id, uint32_t seq, unsigned parts, struct cm_err *err);
/**
 * Make a paused execution, or a running one whose process is gone, a running one of this process. Blocks until synced.
 *
 * Errors: CM_E_CONFLICT it runs elsewhere, or has ended, in words; CM_E_NOT_FOUND.
 */
cm_status cm_store_claim(cm_store *s, const char *id, int64_t now, struct cm_err *err);
/** The same of what was interrupted and nobody has asked for: the count of its interruptions stays, where a claim for somebody ends it. */
cm_status cm_store_claim_unasked(cm_store *s, const char *id, int64_t now, struct cm_err *err);
/**
 * Where the living process that runs this execution, or has paused it, may listen ("<store>.<16 hex digits>.sock", beside its lock); NULL:
 * there is none, or it is this one. Owned by the caller.
 */
cm_status cm_store_owner_socket(cm_store *s, const char *id, char **out, struct cm_err *err);
/** The same of this process; NULL before it has run anything, and for memory. Owned by the caller. */
char *cm_store_own_socket(const cm_store *s);
/** A number that is another one after another process has changed the store. */
cm_status cm_store_changes(cm_store *s, int64_t *out, struct cm_err *err);
/**
 * What waits for a human in an execution that goes no further: PENDING becomes CANCELLED, and UNKNOWN where the call had been sent before.
 * In the open group.
 */
cm_status cm_store_calls_withdraw(cm_store *s, const char *id, int64_t now, struct cm_err *err);
/** Calls still EXECUTING become UNKNOWN (their outcome will never be known), or CANCELLED where that is of no matter. In the open group. */
cm_status cm_store_calls_abandon(cm_store *s, const char *id, struct cm_err *err);
/**
 * Running executions whose process is gone become PAUSED: they can go on from their record. Calls of theirs that were sent and have no
 * outcome are asked about (cm_store_call_ask), unless they are safe to send twice. Done at open, and worth doing before a listing. *n (may
 * be NULL): how many. Blocks for a sync when there were any.
 */
cm_status cm_store_recover(cm_store *s, size_t *n, struct cm_err *err);
/**
 * Paused executions of this runtime that wait for nobody: they were interrupted, or whoever decided did not live to go on with them. Those
 * that were interrupted `from` to `to` times, oldest first, at most some hundreds. Each id and the list are owned by the caller.
 */
struct cm_interrupted_row {
    char *id;
    uint32_t times; /* as of cm_exec_row.interruptions */
};
cm_status cm_store_interrupted(cm_store *s, const char *runtime, uint32_t from, uint32_t to,
                               struct cm_interrupted_row **rows, size_t *n, struct cm_err *err);

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
/** One of them. Errors: CM_E_NOT_FOUND. */
cm_status cm_store_call(cm_store *s, const char *id, uint32_t seq, cm_call_row_fn fn, void *user,
                        struct cm_err *err);
/** Every pending and undecided call of paused and running executions; newest execution first, then seq. runtime and id NULL: of all. */
typedef bool (*cm_pending_row_fn)(void *user, const char *id, const struct cm_call_row *row);
cm_status cm_store_pending(cm_store *s, const char *runtime, const char *id, cm_pending_row_fn fn, void *user,
                           struct cm_err *err);
/**
 * Paused executions of this runtime (NULL: all) that nothing has touched since `before` become EXPIRED, their pending calls CANCELLED.
 * Blocks until synced when there were any. fn (may be NULL) gets the id of each.
 */
cm_status cm_store_expire(cm_store *s, const char *runtime, int64_t before, int64_t now,
                          void (*fn)(void *user, const char *id), void *user, size_t *n, struct cm_err *err);

/** Keep a snippet, in place of one of the same name. Blocks until synced. */
cm_status cm_store_snippet_save(cm_store *s, const struct cm_snippet_row *row, struct cm_err *err);
/** By name; name NULL: all of the runtime, in the order of their names. Errors, with a name: CM_E_NOT_FOUND. */
typedef bool (*cm_snippet_row_fn)(void *user, const struct cm_snippet_row *row);
cm_status cm_store_snippets(cm_store *s, const char *runtime, const char *name, cm_snippet_row_fn fn,
                            void *user, struct cm_err *err);
cm_status cm_store_snippet_delete(cm_store *s, const char *runtime, const char *name, struct cm_err *err);
/** Copy the store, as it is at one moment, into a new file (mode 0600) while others write. Errors: CM_E_CONFLICT it exists. */
cm_status cm_store_backup(cm_store *s, const char *to, struct cm_err *err);

/** CM_E_NOT_FOUND; CM_E_CONFLICT while running or paused. */
cm_status cm_store_delete(cm_store *s, const char *id, struct cm_err *err);
/**
 * Delete terminal executions of this runtime beyond the newest `keep`, one bounded batch of them, in the open group; *n (may be NULL) how
 * many. Who wants them all commits and calls again until it is 0: in between others write.
 */
cm_status cm_store_prune(cm_store *s, const char *runtime, size_t keep, size_t *n, struct cm_err *err);
/** {"path","schema","journal","executions"} for `check`. */
cm_status cm_store_info(cm_store *s, struct cm_buf *out, struct cm_err *err);

#endif
