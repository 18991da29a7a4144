/**
 * runtime: executions - what a program asks for is decided, recorded, sent and answered here (design, section 6).
 *
 * The decision for each call is a pure function (decide.h); doing it goes over the store, the connectors and the sandbox. It does not
 * parse configuration and prints nothing.
 *
 * Happy path: cm_exec_start → begin row → pass queued → on_call: canonical bytes, decision, intent (synced where the call has
 * effects) → connector → outcome recorded → delivered with the clock of its delivery → DONE → outcome row → callback.
 * Invariants: canonical bytes are made once and are what is logged, hashed and sent. Nothing is sent before its intent is recorded.
 * Each execution's callback runs exactly once, never inside cm_exec_start.
 *
 *   decide.h    what happens to a call            exec.c     an execution: row, pass, reasons to end it
 *   call.c      one call, issue to answer         finish.c   the one place where it ends
 *   refuse.c    why not, in words                 settle.c   its unanswered calls then
 *   sdk.c       search, describe, timers          guest.c    what a worker says about an error, rebuilt
 *   runtime.c   what executions share; listings   outcome.c  the outcome as JSON, from the record
 *   record.c    what is recorded of a call        pause.c    a run that waits for a human, and its pass
 *   disk.c      who waits for the disk
 *   rollback.c  undoing what was done             events.c   what happens, as it happens; hooks
 *   shape.c     what is told of a result, and what leaves the record
 *   human.c     what people decide                pending.c  what waits for them, and for how long
 *   standing.c  executions as they stand in the record, ended and told of
 *   issue.c     a call as it comes in             replay.c   a record, and what a program does now
 *   resume.c    going on from a record            again.c    … until it is a run like any other
 *   snippet.c   programs that somebody kept: run   snippets.c    saved, listed
 *
 * What is recorded: every call of every kind, numbered in the order of issue (seq), each answer with its place in the order of deliveries
 * and the clock that the program saw at it. The start of a step's function has such a place until its value has one. `calls` of an outcome shows connector
 * calls and steps, the latter as connector "codemode", method "step:NAME". At most limits.callsInFlight calls are with connectors at a
 * time, further ones wait their turn; the limits on all entries and bytes of one record are in internal.h.
 *
 * Pauses. A run pauses when the program stands still and everything it waits for needs a human (pause.c). It goes on when somebody has
 * decided (human.c): in place while its pass is kept, otherwise by a replay of its record; both lead to the same.
 *
 * Ends. What is in flight when a run ends is cancelled upstream and recorded as cancelled, or as unknown where it may have taken effect.
 * Without a record there is no outcome: when the store fails, what cannot be recorded is not sent, and a run whose records were lost ends with code "store_error" or with no outcome.
 */
#ifndef CM_RUNTIME_RUNTIME_H
#define CM_RUNTIME_RUNTIME_H

#include "base/base.h"
#include "base/limits.h"
#include "catalog/catalog.h"
#include "config/config.h"
#include "connector/connector.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

typedef struct cm_runtime cm_runtime;
typedef struct cm_exec cm_exec;

/** One event as a JSON object (docs/events.md), borrowed for the duration of the call; from the loop, in order. */
typedef void (*cm_event_fn)(void *user, struct cm_str event_json);

/**
 * What is told of a completed result (JSON as readers see it): append JSON to `told`, or leave it empty to tell it as it is. An error is a
 * warning beside the result as it is. The record is not changed.
 */
typedef cm_status (*cm_transform_fn)(void *user, const char *execution, struct cm_str result_json,
                                     struct cm_buf *told, struct cm_err *err);

/** All borrowed for the runtime's life. */
struct cm_runtime_opts {
    cm_loop *loop;
    cm_store *store;
    cm_sandbox *sandbox;
    cm_catalog *catalog;
    cm_connector *const *connectors;
    size_t n_connectors;
    cm_connector
        *fetch; /* a program's own requests; no global of a program, and not in the catalogue. NULL: off */
    const cm_config *config;   /* policy; may be NULL */
    const cm_secrets *secrets; /* may be NULL */
    struct cm_limits limits;
    const char *name;
    uint32_t max_executions; /* terminal ones kept; 0: 50 */
    cm_event_fn on_event;    /* NULL: nobody listens; cm_runtime_on_event changes it */
    void *on_event_user;
    cm_transform_fn transform; /* may be NULL */
    void *transform_user;
    uint32_t grace_ms;      /* how long the pass of a paused run is kept; 0: it is not */
    uint64_t paused_ttl_ms; /* what has waited so long for a human expires; 0: nothing does */
};

cm_status cm_runtime_open(const struct cm_runtime_opts *opts, cm_runtime **out, struct cm_err *err);
/** Ends what runs (callbacks with "cancelled" run from here). */
void cm_runtime_close(cm_runtime *rt);
CM_DEFINE_AUTO(cm_runtime, cm_runtime_close)

struct cm_exec_spec {
    struct cm_str code;
    struct cm_value input;
    struct cm_limits limits; /* already lowered */
    /** In place of code: one call of connector.method with these arguments (`codemode call`); no worker is
     * involved. */
    const char *call_path;
    struct cm_value call_args;
};

/**
 * outcome_json: the outcome of design, section 8 (result cut to result_bytes with "truncated"), borrowed for
 * the duration of the call. NULL with err when the store failed so that there is no truthful outcome.
 */
typedef void (*cm_exec_fn)(void *user, enum cm_exec_state state, struct cm_str outcome_json,
                           const struct cm_err *err);
/** *out is valid until fn has returned. Errors: CM_E_LIMIT code too large, or too many programs wait (nothing recorded);
 * CM_E_IO store. */
cm_status cm_exec_start(cm_runtime *rt, const struct cm_exec_spec *spec, cm_exec_fn fn, void *user,
                        cm_exec **out, struct cm_err *err);
/**
 * Go on with an execution that is paused, or whose process is gone, from its record (resume.c): its program runs again from its first line
 * with the recorded outcomes. Nothing is decided here: calls that nobody has decided about wait on. *out as of cm_exec_start.
 *
 * Errors: CM_E_NOT_FOUND     no such execution in this runtime
 *         CM_E_CONFLICT      it runs, or has ended
 *         CM_E_UNAVAILABLE   a connector that it has called is gone; nothing was changed
 *         CM_E_LIMIT         too many programs wait; nothing was changed
 */
cm_status cm_exec_resume(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, cm_exec **out,
                         struct cm_err *err);
/**
 * Resume every execution of this runtime that waits for nobody: they were interrupted, or whoever decided did not live to go on with them.
 * One whose process died more than three times under it since somebody last let it go on stays paused until somebody does (cm_runtime_resume).
 * `failed` is told, from inside, of each that cannot go on; it stays as it is.
 */
cm_status cm_runtime_resume_interrupted(cm_runtime *rt,
                                        void (*failed)(void *user, const char *id, const struct cm_err *err),
                                        void *user, struct cm_err *err);
/** Ends as cancelled; calls in flight are cancelled upstream. */
void cm_exec_cancel(cm_exec *e);
const char *cm_exec_id(const cm_exec *e);

/** ---- what people decide (human.c, pause.c) ---- */

/** All borrowed for the duration of the call. */
struct cm_decide {
    const char *id;       /* of the execution */
    const uint32_t *seqs; /* of calls that are pending */
    size_t n_seqs;        /* 0: approve: all that are pending; reject: the whole execution */
    struct cm_str
        args_json; /* approve of one call: with these arguments in place of the program's; empty: with its own */
    const char *hash;   /* approve of one call: only if its argsHash is this; NULL: whatever it is */
    const char *by;     /* who; NULL: not told */
    const char *reason; /* why; a program sees why its call was rejected. NULL: not told */
};
/**
 * Approve calls and let the execution go on, in place or from its record; with nothing pending it just goes on. What is sent is what the
 * record has, whose hash is looked at again here; other arguments are checked as the program's were, and recorded as a human's. CM_OK
 * says that this is recorded; it is on the disk before anything is sent because of it, and before fn gets the outcome of the next pause or
 * the end, or hears that it is not.
 *
 * *out is set when the run goes on, at the latest before fn; that is later than now where other arguments are given and the connector,
 * which has their schema, has to start first. So it must stay where it is until fn has returned.
 *
 * Errors, and fn is not called: CM_E_NOT_FOUND  no such execution or call
 *         CM_E_CONFLICT     nobody's decision counts any more: decided, ended, expired, changed since it was looked at (hash); or the
 *                           execution runs in another process, which the message says, and then the decision stands and counts there
 *         CM_E_INVALID      the arguments do not fit; CM_E_DENIED a rule denies the call; CM_E_UNAVAILABLE its connector is not there
 */
cm_status cm_runtime_approve(cm_runtime *rt, const struct cm_decide *d, cm_exec_fn fn, void *user,
                             cm_exec **out, struct cm_err *err);
/**
 * Reject calls: the program sees an error with code "rejected" and goes on; what it does not catch ends it as REJECTED. Without seqs the
 * execution ends so at once and nothing of it runs (*out stays NULL). Else as cm_runtime_approve.
 */
cm_status cm_runtime_reject(cm_runtime *rt, const struct cm_decide *d, cm_exec_fn fn, void *user,
                            cm_exec **out, struct cm_err *err);
/** Let an execution go on about whose calls all was decided, or that was interrupted, without deciding anything. As cm_runtime_approve. */
cm_status cm_runtime_resume(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, cm_exec **out,
                            struct cm_err *err);
/**
 * End an execution that runs or is paused as CANCELLED. One that runs in another process stops there when it next records something.
 * Blocks until synced.
 *
 * Errors: CM_E_NOT_FOUND; CM_E_CONFLICT it has ended.
 */
cm_status cm_runtime_cancel(cm_runtime *rt, const char *id, struct cm_err *err);
/** err NULL: it is on the disk. Otherwise nobody may rely on it. Called once, from the loop. */
typedef void (*cm_on_disk_fn)(void *user, const struct cm_err *err);
/** The same without blocking; fn (may be NULL) is called when it is on the disk, and only after CM_OK. */
cm_status cm_runtime_cancel_start(cm_runtime *rt, const char *id, cm_on_disk_fn fn, void *user,
                                  struct cm_err *err);
/**
 * Append {"pending":[{executionId, seq, connector, method, args, argsHash, rule, reason?, createdAt}]}, of one execution or (id NULL) all
 * of this runtime, newest execution first. Arguments are whole, with secrets as their names; an entry without args has some that cannot be
 * shown, and cannot be approved. Errors: CM_E_NOT_FOUND.
 */
cm_status cm_runtime_pending(cm_runtime *rt, const char *id, struct cm_buf *out, struct cm_err *err);
/** Paused executions of this runtime that nobody decided about for paused_ttl_ms become EXPIRED. Also done before each listing, and now and
 * then. */
cm_status cm_runtime_expire(cm_runtime *rt, int64_t now, struct cm_err *err);
/** The same of those that nobody decided about since `before`. *n (may be NULL): how many. */
cm_status cm_runtime_expire_before(cm_runtime *rt, int64_t before, int64_t now, size_t *n,
                                   struct cm_err *err);

/** Progress for a client that waits: "3 calls, waiting for github.search". Owned by the caller. */
char *cm_exec_progress(const cm_exec *e);

/** Append {"executions":[…]} (outcome without logs and calls, plus code's first line, runtime, times), newest
 * first. */
cm_status cm_runtime_executions(cm_runtime *rt, size_t limit, struct cm_buf *out, struct cm_err *err);
/** Append one execution: outcome plus code, runtime, createdAt, updatedAt. CM_E_NOT_FOUND suggests how to
 * list them. */
cm_status cm_runtime_execution(cm_runtime *rt, const char *id, struct cm_buf *out, struct cm_err *err);

/** ---- undoing (rollback.c) and watching (events.c) ---- */

/** What becomes of reverts that were sent and of which nobody knows whether they took effect. */
enum cm_revert_unknown {
    CM_REVERT_ASK,   /* they are reported, and left alone */
    CM_REVERT_AGAIN, /* they are sent again */
    CM_REVERT_DONE,  /* they are recorded as reverted */
};
/** All borrowed for the duration of the call. */
struct cm_rollback {
    const char *id;
    const uint32_t *seqs; /* these calls only; n_seqs 0: all */
    size_t n_seqs;
    enum cm_revert_unknown unknown;
    const char *by; /* who; NULL: not told */
};
/** report_json, borrowed: {executionId, status, reverted: [{seq, connector, method}], failed: [{…, error, code}], skipped: [{…, reason}]}.
 * NULL with err when the store failed; what was reverted by then is recorded. */
typedef void (*cm_report_fn)(void *user, struct cm_str report_json, const struct cm_err *err);
/**
 * Undo what an execution did: newest first, each call that took effect, or may have, and has a revert; each result is on the disk before the
 * next is sent, and all of them before the report is told. A paused execution is cancelled first. It becomes ROLLED_BACK when something was undone and nothing that can be is left;
 * until then it can be done again. Nothing is sent twice. fn runs once, never inside this call.
 *
 * Errors, and fn is not called: CM_E_NOT_FOUND; CM_E_CONFLICT it runs, or is being rolled back.
 */
cm_status cm_runtime_rollback_as(cm_runtime *rt, const struct cm_rollback *spec, cm_report_fn fn, void *user,
                                 struct cm_err *err);
/** The same with everything as usual. */
cm_status cm_runtime_rollback(cm_runtime *rt, const char *id, cm_report_fn fn, void *user,
                              struct cm_err *err);
/** Tell what happens from now on; fn NULL: nobody listens any more. May be called from fn. */
void cm_runtime_on_event(cm_runtime *rt, cm_event_fn fn, void *user);
/** From now on, what is told of results is fn's to say; NULL: as they are. */
void cm_runtime_on_result(cm_runtime *rt, cm_transform_fn fn, void *user);

/** ---- snippets: programs kept by name, in this runtime (snippet.c) ---- */

struct cm_snippet_spec {
    const char *name;           /* 1 to 64 of A-Z a-z 0-9 _ -, no connector's */
    const char *execution;      /* whose program is kept, and the names of the connectors that it called */
    const char *description;    /* for who searches; NULL: none */
    struct cm_str input_schema; /* JSON Schema that an input must fit; empty: any input, or none */
};
/** Keep one, in place of one of the same name. Blocks until synced. Errors: CM_E_INVALID, CM_E_LIMIT say what; CM_E_NOT_FOUND the execution. */
cm_status cm_runtime_snippet_save(cm_runtime *rt, const struct cm_snippet_spec *spec, struct cm_err *err);
/** Append {"snippets":[{"name","description","connectors","inputSchema"?,"executionId","savedAt"}]}, by name. */
cm_status cm_runtime_snippets(cm_runtime *rt, struct cm_buf *out, struct cm_err *err);
/** Append one of these, with its "code". Errors: CM_E_NOT_FOUND suggests near names. */
cm_status cm_runtime_snippet(cm_runtime *rt, const char *name, struct cm_buf *out, struct cm_err *err);
/** Errors: CM_E_NOT_FOUND. What ran with it keeps the text that it ran. */
cm_status cm_runtime_snippet_delete(cm_runtime *rt, const char *name, struct cm_err *err);
/**
 * The program of one that may run here with this input (absent: none), owned by the caller. Errors: CM_E_NOT_FOUND, CM_E_UNAVAILABLE
 * a connector that it calls is gone, CM_E_INVALID the input does not fit its schema.
 */
cm_status cm_runtime_snippet_program(cm_runtime *rt, const char *name, struct cm_value input, char **code,
                                     size_t *len, struct cm_err *err);
/** Tell the catalogue what snippets there are now; before each question, since other processes save them, too. */
cm_status cm_runtime_look_at_snippets(cm_runtime *rt, struct cm_err *err);

#endif
