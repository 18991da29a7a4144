/**
 * codemode: run a model's JavaScript against typed connectors, in a process that can do nothing else.
 *
 * One context, one thread. Every function that can fail returns a cm_status and fills a struct cm_err; an out-parameter is
 * set only on success. A program that throws, meets a limit or waits for approval is not a failure of ours: it is an outcome.
 */
#ifndef CODEMODE_H
#define CODEMODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CM_VERSION "0.1.0"

#if defined(__GNUC__)
#define CM_API __attribute__((visibility("default")))
#else
#define CM_API
#endif

/**
 * Every status, one row each: name, text, JSON-RPC code, exit status of the program.
 * A status exists because some caller acts on it; the sentence in struct cm_err is for whoever reads it.
 */
#define CM_STATUS_MAP(X)                          \
    X(OK, "ok", 0, 0)                             \
    X(E_INVALID, "invalid input", -32602, 2)      \
    X(E_CONFIG, "configuration error", -32603, 2) \
    X(E_NOT_FOUND, "not found", -32602, 1)        \
    X(E_CONFLICT, "conflict", -32603, 1)          \
    X(E_LIMIT, "limit exceeded", -32603, 1)       \
    X(E_DENIED, "denied", -32603, 1)              \
    X(E_TIMEOUT, "timed out", -32603, 1)          \
    X(E_CANCELLED, "cancelled", -32603, 130)      \
    X(E_UNAVAILABLE, "unavailable", -32603, 1)    \
    X(E_PROTOCOL, "protocol error", -32603, 1)    \
    X(E_IO, "input/output error", -32603, 1)      \
    X(E_NOMEM, "out of memory", -32603, 1)        \
    X(E_INTERNAL, "internal error", -32603, 1)

typedef enum cm_status {
#define CM_STATUS_ENUM_(name, text, rpc, exit) CM_##name,
    CM_STATUS_MAP(CM_STATUS_ENUM_)
#undef CM_STATUS_ENUM_
        CM_STATUS_COUNT_
} cm_status;

#define CM_ERR_MAX_BYTES 2048

/** What went wrong: a code for programs, a sentence (UTF-8, NUL-terminated, no newline at the end) for whoever must act. */
struct cm_err {
    cm_status status;
    /** What exactly, where the status alone does not tell it: "source_limit" (docs/errors.md). Static; NULL: the status' name. */
    const char *code;
    char message[CM_ERR_MAX_BYTES];
};

/* ---- context ----------------------------------------------------------------------------------------------------- */

/** Everything of one embedder: configuration, connectors, store, workers. Not shared between threads. */
typedef struct cm_ctx cm_ctx;
/** What a run, a call or an approval ended with. Owned by the caller; cm_outcome_free. */
typedef struct cm_outcome cm_outcome;
/** Something under way; valid until its callback has returned. */
typedef struct cm_op cm_op;

/** Zero is the default for every member. All text is UTF-8, NUL-terminated, and copied. */
struct cm_options {
    /** Configuration file. NULL: looked up ($CODEMODE_CONFIG, ./codemode.json, ./.mcp.json, $XDG_CONFIG_HOME/codemode/config.json),
        and none at all is fine. A file found in the working directory is used only after it was trusted. */
    const char *config_path;
    /** Configuration as JSON text in place of a file; relative paths in it are relative to the working directory. */
    const char *config_json;
    /** "sqlite:PATH" or "memory:"; NULL: the configuration's, or $XDG_STATE_HOME/codemode/codemode.db. */
    const char *store;
    /** Runtime name ([A-Za-z0-9_.-]+); NULL: the configuration's, or "default". */
    const char *runtime;
    /** codemode-worker; NULL: $CODEMODE_WORKER, beside the program, the installed libexec. */
    const char *worker_path;
    /** Read no configuration at all, not even one that would be found. */
    bool no_config;
    /** One program is to run and that is all: keep no pool of workers ready. */
    bool one_shot;
    /** Perhaps none is: start no process for programs before the first of them, which then waits for it. */
    bool on_demand;
};

/**
 * Open. Reads the configuration and starts the sandbox; reaches no connector yet (each starts when it is first needed).
 *
 * Errors: CM_E_CONFIG, CM_E_INVALID  names file, key and reason
 *         CM_E_NOT_FOUND             a file or the worker program
 *         CM_E_IO, CM_E_CONFLICT     the store
 * Descriptors 0, 1 and 2 must be open, if only on /dev/null: otherwise CM_E_INVALID.
 * Blocks: for file reads.
 */
CM_API cm_status cm_open(const struct cm_options *options, cm_ctx **out, struct cm_err *err);
/** Ends what is under way (their callbacks run with a cancelled outcome), connectors and workers. NULL is allowed. */
CM_API void cm_close(cm_ctx *ctx);
/** The i-th warning about the configuration (an unknown key, a name that had to be changed), NULL past the end. Borrowed. */
CM_API const char *cm_config_note(const cm_ctx *ctx, size_t i);
/** Version of the library, e.g. "0.1.0". */
CM_API const char *cm_version(void);
/** Name of a status ("E_LIMIT"), its text, and the exit status that a command gives for it. */
CM_API const char *cm_status_name(cm_status st);
CM_API const char *cm_status_text(cm_status st);
CM_API int cm_status_exit(cm_status st);
/** What error.code of an outcome says of it: its code, or else the name of its status. */
CM_API const char *cm_err_code(const struct cm_err *err);

/* ---- tools from C ------------------------------------------------------------------------------------------------- */

/** A call of a tool made of a callback. Answer it exactly once, at once or later, on the context's thread. */
typedef struct cm_tool_call cm_tool_call;
/** args_json: one JSON object, NUL-terminated, borrowed for the duration of the callback. */
typedef void (*cm_tool_fn)(void *user, cm_tool_call *call, const char *args_json, size_t args_len);

enum cm_tool_flag {
    CM_TOOL_REQUIRES_APPROVAL = 1,
    CM_TOOL_READ_ONLY = 2,
    CM_TOOL_IDEMPOTENT = 4,
    CM_TOOL_REEXECUTE = 8,
};

struct cm_tool {
    const char *connector; /* global name in the program, an identifier */
    const char *name;
    const char *description;   /* for the model; may be NULL */
    const char *input_schema;  /* JSON Schema text; NULL: any object */
    const char *output_schema; /* JSON Schema text or NULL */
    unsigned flags;            /* enum cm_tool_flag */
    uint32_t timeout_ms;       /* 0: 60000 */
    cm_tool_fn fn;
    void *user;
    /** Undoes a call of fn, for cm_rollback; NULL: nothing does. Its args_json is {"args":…,"result":…}; without "result" nobody knows
        whether the call took effect. It answers as fn does, and fails where it could not undo. */
    cm_tool_fn revert;
};

/** Add a tool; everything is copied. Errors: CM_E_CONFLICT a tool or configured connector of this name; CM_E_INVALID says what. */
CM_API cm_status cm_add_tool(cm_ctx *ctx, const struct cm_tool *tool, struct cm_err *err);
/** The execution that the call belongs to; the same when it goes on after a pause. Borrowed until the answer. */
CM_API const char *cm_tool_call_execution(const cm_tool_call *call);
/** Answer with JSON text (an error to the program when it is none). Copied. */
CM_API void cm_tool_return(cm_tool_call *call, const char *json, size_t len);
/** Answer with a failure that the program can catch. */
CM_API void cm_tool_fail(cm_tool_call *call, const char *message);
/**
 * The same with what a program can branch on: `code` (NULL: none) becomes the error's code, the members of fields_json, a JSON
 * object (NULL: none), its fields. Members called name, message or code, and text that is no JSON object, are left out.
 */
CM_API void cm_tool_fail_with(cm_tool_call *call, const char *code, const char *fields_json,
                              const char *message);

/** `status`: "paused", "completed", "error", …, as in the outcome. */
typedef void (*cm_hook_fn)(void *user, const char *execution_id, const char *status);
/**
 * What tools keep for an execution (a browser page, a transaction) goes with it. Both are called on the context's thread, for every
 * execution, whether it used the connector or not, before its outcome is told; they must be quick and do no harm when they come again.
 */
struct cm_hooks {
    cm_hook_fn pass_end; /* it has paused or ended; may be NULL */
    cm_hook_fn
        dispose; /* it has ended, or was rolled back after its end, and needs nothing more; may be NULL */
    void *user;
};
/** Of the connector that cm_add_tool made, in place of those it had. Errors: CM_E_NOT_FOUND; CM_E_INVALID it is a configured one. */
CM_API cm_status cm_set_hooks(cm_ctx *ctx, const char *connector, const struct cm_hooks *hooks,
                              struct cm_err *err);

/* ---- running ------------------------------------------------------------------------------------------------------ */

struct cm_run_options {
    const char *code;       /* the program; NUL bytes are allowed with code_len */
    size_t code_len;        /* 0: strlen(code) */
    const char *input_json; /* passed to a program that is a function; NULL: nothing */
    /** In place of code: the saved program of this name. CM_E_NOT_FOUND, CM_E_UNAVAILABLE a connector that it calls is gone,
        CM_E_INVALID the input does not fit its schema: then nothing is recorded. */
    const char *snippet;
    /** Limits of this run, downwards only; JSON object as `limits` in the configuration. NULL: as configured. */
    const char *limits_json;
};

/** Runs once; takes the outcome. NULL outcome: err says why there is none. */
typedef void (*cm_done_fn)(void *user, cm_outcome *take_outcome, const struct cm_err *err);

/** Run a program to its end or its first pause. Blocks; runs the context's events meanwhile. Errors: CM_E_LIMIT program too large. */
CM_API cm_status cm_run(cm_ctx *ctx, const struct cm_run_options *run, cm_outcome **out, struct cm_err *err);
/** The same without blocking; *op may be NULL. */
CM_API cm_status cm_run_start(cm_ctx *ctx, const struct cm_run_options *run, cm_done_fn fn, void *user,
                              cm_op **op, struct cm_err *err);
/** One call of "connector.method" with policy, log and limits like any other. args_json NULL: {}. Blocks. */
CM_API cm_status cm_call_method(cm_ctx *ctx, const char *path, const char *args_json, cm_outcome **out,
                                struct cm_err *err);
/** Cancel; the callback comes with status "cancelled". Safe in a signal handler? No: see cm_interrupt. */
CM_API void cm_op_cancel(cm_op *op);
/** Cancel everything under way at the next turn of the loop. The one function that may be called from a signal handler or another thread. */
CM_API void cm_interrupt(cm_ctx *ctx);

/** "completed", "error", "paused", "cancelled", … (design, States). Borrowed. */
CM_API const char *cm_outcome_status(const cm_outcome *o);
CM_API const char *cm_outcome_execution_id(const cm_outcome *o);
/** The whole outcome as one JSON object. Borrowed, NUL-terminated. len may be NULL. */
CM_API const char *cm_outcome_json(const cm_outcome *o, size_t *len);
/** The result alone as JSON; NULL when the program returned undefined or did not complete. */
CM_API const char *cm_outcome_result_json(const cm_outcome *o, size_t *len);
/** When the result is a string: its text, unescaped. Otherwise NULL. */
CM_API const char *cm_outcome_result_text(const cm_outcome *o, size_t *len);
/* In the texts below a NUL of the program is given as U+001A (substitute); cm_outcome_json has it exactly. */
/** The error's members, NULL where absent: "name", "message", "code", "module", "source", "stack". line and column are 0 when unknown. */
CM_API const char *cm_outcome_error(const cm_outcome *o, const char *member);
CM_API uint32_t cm_outcome_error_line(const cm_outcome *o);
CM_API uint32_t cm_outcome_error_column(const cm_outcome *o);
/**
 * The line where the program failed and, beneath it, a mark under the place, as lines of text without an end of line:
 *
 *     "  3 | const x = foo.bar()\n    |               ^"
 *
 * NULL when the place is not known. What moves a terminal's cursor is replaced.
 */
CM_API const char *cm_outcome_error_frame(const cm_outcome *o);
/** What the error has besides: its own fields, cause, errors of an AggregateError, as one JSON object. NULL: nothing. */
CM_API const char *cm_outcome_error_fields(const cm_outcome *o);
/** The i-th console line ("[warn] " and "[error] " in front where it was one), NULL past the end; likewise the warnings. */
CM_API const char *cm_outcome_log(const cm_outcome *o, size_t i);
CM_API const char *cm_outcome_warning(const cm_outcome *o, size_t i);
/**
 * The i-th call that waits for a decision: "call 1: crm.delete_user {"id":7}", the start of long arguments; NULL past the end. Borrowed
 * until the next question.
 */
CM_API const char *cm_outcome_pending(const cm_outcome *o, size_t i);
CM_API void cm_outcome_free(cm_outcome *o);

/** The i-th sentence about what is left out (the result's end, then the console's): limit, true size, what to do. NULL past the end. */
CM_API const char *cm_outcome_truncated(const cm_outcome *o, size_t i);
/* ---- what a program can call, and what was done ------------------------------------------------------------------- */

/** A JSON or TypeScript text, owned by the caller: cm_text_free. */
CM_API void cm_text_free(char *text);
/** Search methods: {"results":[…],"total":N,"truncated":false}. Starts every connector and waits for it. limit 0: 50. Blocks. */
CM_API cm_status cm_search(cm_ctx *ctx, const char *query, size_t limit, char **json, struct cm_err *err);
/** {"path","kind","description","types",…} of "connector" or "connector.method". Blocks. */
CM_API cm_status cm_describe(cm_ctx *ctx, const char *path, char **json, struct cm_err *err);
/** TypeScript declarations of a path, or of everything (NULL). Blocks. */
CM_API cm_status cm_types(cm_ctx *ctx, const char *path, char **text, struct cm_err *err);
/** The program as it would run. A syntax error is CM_E_INVALID with position. Blocks. */
CM_API cm_status cm_normalize(cm_ctx *ctx, const char *code, size_t code_len, char **text,
                              struct cm_err *err);
/** The description of the one tool a model sees (reference R1.1). */
CM_API cm_status cm_tool_description(cm_ctx *ctx, char **text, struct cm_err *err);
/** {"executions":[…]}, newest first; limit 0: 50. */
CM_API cm_status cm_executions(cm_ctx *ctx, size_t limit, char **json, struct cm_err *err);
/** One execution: its outcome plus code, runtime and times. Errors: CM_E_NOT_FOUND. */
CM_API cm_status cm_execution(cm_ctx *ctx, const char *id, char **json, struct cm_err *err);
/** Delete one and its log. Errors: CM_E_NOT_FOUND; CM_E_CONFLICT while it runs. */
CM_API cm_status cm_execution_delete(cm_ctx *ctx, const char *id, struct cm_err *err);
/**
 * Reach everything: {"ok":bool,"config":…,"store":{…},"sandbox":{"layers":[{name,holds}],…},"connectors":[{name,kind,origin,state,
 * methods,error?,warnings?}],"reverts":[{method,error?}]}. CM_OK also when something does not work: read "ok". Blocks for at most the connectors' start time-outs.
 */
CM_API cm_status cm_check(cm_ctx *ctx, char **json, struct cm_err *err);

/* ---- what a human decides ------------------------------------------------------------------------------------------ */

/*
 * A call that needs approval is recorded, and the program pauses until somebody decides. A decision is made good once, whoever makes
 * it: of two, one wins and the other gets CM_E_CONFLICT with what happened. Where another process on this machine has the program
 * (codemode serve), it goes on there and its outcome comes from there; otherwise here, from its record.
 */
struct cm_answer {
    const char *id;       /* of the execution */
    const uint32_t *seqs; /* of its pending calls ("seq"), each of them */
    size_t n_seqs;        /* 0: approve: all that are pending now; reject: the execution itself, which ends */
    const char *
        args_json; /* approve of one call: with these arguments in place of the program's; recorded as such */
    const char *hash;   /* approve of one call: only if its "argsHash" is this one; NULL: whatever it is */
    const char *by;     /* who decides; NULL: not told */
    const char *reason; /* of a rejection the program sees it; NULL: not told */
};

/**
 * {"pending":[{executionId, seq, connector, method, args, argsHash, rule, createdAt, …}]}: calls that wait for a decision, of one execution
 * or of all (NULL), newest execution first, with their arguments whole. Blocks for the store.
 */
CM_API cm_status cm_pending(cm_ctx *ctx, const char *id, char **json, struct cm_err *err);
/**
 * Approve, and run the program to its end or its next pause. With nothing pending, an execution that was interrupted goes on. Blocks.
 *
 * Errors: CM_E_NOT_FOUND  no such execution or call
 *         CM_E_CONFLICT   it was decided before, runs, has ended, or its arguments have another hash
 *         CM_E_INVALID    other arguments that the method does not accept
 *         CM_E_UNAVAILABLE  a connector that it has called is gone; or who ran it went away meanwhile
 */
CM_API cm_status cm_approve(cm_ctx *ctx, const struct cm_answer *d, cm_outcome **out, struct cm_err *err);
/** The same without blocking; *op may be NULL. Everything of d is copied. */
CM_API cm_status cm_approve_start(cm_ctx *ctx, const struct cm_answer *d, cm_done_fn fn, void *user,
                                  cm_op **op, struct cm_err *err);
/** Reject calls: the program sees a failure with code "rejected" and goes on; not caught, it ends as rejected. Errors as cm_approve. */
CM_API cm_status cm_reject(cm_ctx *ctx, const struct cm_answer *d, cm_outcome **out, struct cm_err *err);
CM_API cm_status cm_reject_start(cm_ctx *ctx, const struct cm_answer *d, cm_done_fn fn, void *user,
                                 cm_op **op, struct cm_err *err);
/**
 * Cancel an execution wherever it runs, or where it waits. Calls in flight are cancelled upstream. Blocks.
 * Errors: CM_E_NOT_FOUND; CM_E_CONFLICT it has ended.
 */
CM_API cm_status cm_cancel(cm_ctx *ctx, const char *id, struct cm_err *err);

/* ---- undoing, watching, and what is told ---------------------------------------------------------------------------- */

/** Reverts that were sent and of which nobody knows whether they took effect, as when the process died. */
enum cm_rollback_unknown {
    CM_ROLLBACK_ASK, /* are reported ("revert_unknown") and left alone: look, then say which of the others it is */
    CM_ROLLBACK_AGAIN, /* are sent again */
    CM_ROLLBACK_DONE,  /* have taken effect */
};
struct cm_rollback_options {
    const char *id;       /* of the execution */
    const uint32_t *seqs; /* these of its calls only; n_seqs 0: all */
    size_t n_seqs;
    enum cm_rollback_unknown unknown;
    const char *by; /* who; NULL: not told */
};
/**
 * Undo what an execution did (docs/rollback.md): newest first, each call that took effect, or may have, and has a revert. A paused one is
 * cancelled first. *json, owned by the caller: {executionId, status, reverted: [{seq, connector, method}], failed: [{…, error, code}],
 * skipped: [{…, reason}]}. Status is "rolled_back" when something was undone and nothing that can be is left; otherwise do it again.
 * Nothing is undone twice. Blocks.
 *
 * Errors: CM_E_NOT_FOUND; CM_E_CONFLICT it runs; CM_E_IO the store.
 */
CM_API cm_status cm_rollback(cm_ctx *ctx, const struct cm_rollback_options *o, char **json,
                             struct cm_err *err);

/** One event (docs/events.md): a JSON object, NUL-terminated, borrowed for the duration of the call. */
typedef void (*cm_on_event_fn)(void *user, const char *event_json, size_t len);
/**
 * Hear what happens in this context: executions that start, pause and end, calls decided and answered, console lines. fn is called on the
 * context's thread, from cm_dispatch, cm_wait and the blocking functions, in order, and may call what does not block. One callback; NULL:
 * none. While it runs, nothing else does; what it does not keep up with is dropped and counted.
 */
CM_API void cm_on_event(cm_ctx *ctx, cm_on_event_fn fn, void *user);

/** What is told of a result. */
typedef struct cm_result cm_result;
/** Answers inside the callback, or leaves the result as it is. json is borrowed, NUL-terminated. */
typedef void (*cm_on_result_fn)(void *user, cm_result *r, const char *execution_id, const char *json,
                                size_t len);
/** Choose what outcomes of completed programs show as "result", after a pause, too. The record keeps it as it was. NULL: as it was. */
CM_API void cm_on_result(cm_ctx *ctx, cm_on_result_fn fn, void *user);
/** Tell this JSON text in place of it. Copied; text that is no JSON is a warning of the outcome, beside the result as it was. */
CM_API void cm_result_tell(cm_result *r, const char *json, size_t len);
/** Tell the result as it was, with a warning. */
CM_API void cm_result_keep(cm_result *r, const char *why);

/* ---- keeping the record ------------------------------------------------------------------------------------------- */

/** Delete the executions of this runtime that have ended, but the newest `keep` (SIZE_MAX: maxExecutions). *n (may be NULL): how many. */
CM_API cm_status cm_prune(cm_ctx *ctx, size_t keep, size_t *n, struct cm_err *err);
/**
 * Let executions of this runtime expire that have waited for a human longer than that: what is pending of them will not run. The runtime
 * does so by itself after pausedTtlMs. *n (may be NULL): how many.
 */
CM_API cm_status cm_expire(cm_ctx *ctx, uint64_t older_than_ms, size_t *n, struct cm_err *err);
/** Copy the store, as it is at one moment, into a new file (mode 0600), also while others write. Errors: CM_E_CONFLICT it exists. */
CM_API cm_status cm_backup(cm_ctx *ctx, const char *path, struct cm_err *err);

/* ---- saved programs ------------------------------------------------------------------------------------------------ */

/** What to keep of an execution: its program, and the names of the connectors that it called. All text is copied. */
struct cm_snippet {
    const char
        *name; /* 1 to 64 letters, digits, '_' and '-'; no connector's. One of this name is replaced. */
    const char *execution_id;
    const char *description;  /* for who searches; may be NULL */
    const char *input_schema; /* JSON Schema that an input must fit; NULL: any input, or none */
};
/** Errors: CM_E_INVALID, CM_E_LIMIT say what; CM_E_NOT_FOUND the execution. Blocks. */
CM_API cm_status cm_snippet_save(cm_ctx *ctx, const struct cm_snippet *snippet, struct cm_err *err);
/** {"snippets":[{"name","description","connectors","inputSchema"?,"executionId","savedAt"}]}, by name. */
CM_API cm_status cm_snippets(cm_ctx *ctx, char **json, struct cm_err *err);
/** One of these, with its "code". Errors: CM_E_NOT_FOUND names near ones. */
CM_API cm_status cm_snippet_show(cm_ctx *ctx, const char *name, char **json, struct cm_err *err);
/** Errors: CM_E_NOT_FOUND. Executions that ran it keep the text that they ran. */
CM_API cm_status cm_snippet_delete(cm_ctx *ctx, const char *name, struct cm_err *err);

/* ---- the caller's own loop ---------------------------------------------------------------------------------------- */

/** Readable when cm_dispatch has work. Borrowed, stays the same. */
CM_API int cm_poll_fd(const cm_ctx *ctx);
/** Milliseconds after which cm_dispatch has work without the descriptor: 0 now, -1 never. */
CM_API int cm_poll_timeout_ms(const cm_ctx *ctx);
/** Handle what is ready, without waiting. Callbacks run from here. */
CM_API void cm_dispatch(cm_ctx *ctx);
/** Wait for events and handle them once. False when nothing is under way. */
CM_API bool cm_wait(cm_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
