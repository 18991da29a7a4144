/** What the files of runtime share: executions, the calls they wait for, and how the two end. */
#ifndef CM_RUNTIME_INTERNAL_H
#define CM_RUNTIME_INTERNAL_H

#include "runtime/decide.h"
#include "runtime/replay.h"
#include "runtime/runtime.h"

#include <stdint.h>

#define RT_ID_BYTES    64           /* "exec_" + 16 digits + "_" + UUID and its NUL */
#define RT_HASH_BYTES  72           /* "sha256:" + 64 hex digits and the NUL */
#define RT_ENTRIES_MAX 10000        /* recorded entries of one execution, timers and searches included */
#define RT_RECORD_MAX  (256u << 20) /* argument and outcome bytes that one execution may put into the log */
#define RT_VALUE_MAX_BYTES \
    (CM_FRAME_MAX_BYTES - 4096) /* an outcome and its frame's other parts fit in a frame */
#define RT_WARNINGS_MAX 20
#define RT_RESUMES_MAX \
    3 /* times that an interrupted execution is taken up unasked: more often is no coincidence */
#define RT_WARNING_BYTES 1024
/* The code of a call whose arguments are over their limit; like any failure of a call it can be caught. */
#define RT_ARGUMENTS_LIMIT "arguments_limit"
#define RT_ERROR_TEXT      16384 /* message and stack of a program's error, each */
#define RT_ERROR_FIELDS    (256u << 10)

/** Reasons of the host for ending a run (the sandbox's among them); a program's own error cannot carry one as
 * its code. */
#define RT_END_CODE_MAP(X)     \
    X("cpu_limit")             \
    X("wall_limit")            \
    X("deadline")              \
    X("memory_limit")          \
    X("stack_limit")           \
    X("frame_limit")           \
    X("calls_in_flight_limit") \
    X("timers_limit")          \
    X("subrequests_limit")     \
    X("entries_limit")         \
    X("record_limit")          \
    X("crashed")               \
    X("protocol")              \
    X("no_worker")             \
    X("divergence")            \
    X("store_error")           \
    X("invalid_result")

struct rt_call;
struct rt_disk;
struct rt_disk_wait;

struct cm_runtime {
    struct cm_runtime_opts o;
    char *name;
    cm_exec *execs;               /* running ones */
    cm_soon *turn;                /* at the end of the loop's turn: the store's group is committed */
    bool prune_due;               /* an execution has ended since the record was pruned */
    cm_soon *direct;              /* starts single calls, which have no pass */
    cm_exec *held;                /* paused ones whose pass is kept */
    cm_soon *looks;               /* at those that may pause, or about whose calls somebody has decided */
    struct rt_deferred *deferred; /* decisions that wait for a connector */
    struct rt_answer *answers, **answers_tail; /* of decisions that no run follows */
    cm_soon *answering;
    cm_timer *expiry;
    struct rt_disk *disk;
    struct rt_events *events;      /* NULL: nobody listens */
    struct rt_rollback *rollbacks; /* under way */
    struct rt_shape *shapes;       /* executions whose result goes through a snippet */
    bool closing;
};

/** What the sandbox's events get: outlives the execution when the runtime is closed before the pass has
 * ended. */
struct rt_pass {
    cm_exec *e; /* NULL: nobody listens any more */
    cm_pass *pass;
};

/** Why the host ends a run; set once, before anything is killed. */
struct rt_ending {
    bool set;
    enum cm_exec_state state;
    char *code; /* NULL: no error object */
    char *message;
};

/** What calls are issued in. */
struct rt_parent {
    int64_t seq; /* of a step or a snippet; -1 of the program itself, and of what has no function */
    uint32_t n_children;
};

struct cm_exec {
    cm_runtime *rt;
    cm_exec *next, **prev;
    char id[RT_ID_BYTES];
    cm_exec_fn fn;
    void *user;
    struct cm_limits limits;
    struct rt_pass *pass; /* NULL: a single call */
    char *direct_path;    /* "connector.method" of a single call */
    struct cm_own_value direct_args;
    bool direct_started;
    struct cm_own_value direct_result;
    bool direct_failed, direct_answered;

    int64_t created_at;
    int64_t began_at; /* monotonic, of this pass; time in which it was held does not count */
    uint32_t passes;  /* as in the row: one more whenever somebody takes the execution on */
    int64_t clock;    /* what the program last saw; never goes back */
    int64_t n_deliveries;
    uint32_t n_issued; /* every kind; also the next seq */
    uint32_t n_subrequests;
    struct rt_parent *parents; /* by id; 0 is the program itself */
    size_t cap_parents, n_parents;
    uint32_t n_timers;    /* not fired yet */
    uint32_t timers_turn; /* the turn after which the newest were started, and one; 0: there was none */
    int64_t timers_from;  /* monotonic: all of that turn count from here */
    uint64_t recorded_bytes;
    unsigned losses; /* the store's count when this began */

    struct rt_call *calls, **calls_tail; /* unanswered, in the order of issue */
    uint32_t n_outstanding, n_pending, n_active, n_steps;
    bool waiting;                       /* the program can go on only with an outcome */
    bool starting;                      /* queued calls are being given slots */
    bool program_ended, program_failed; /* the program has; calls that it did not await go on */
    bool finishing_pass;                /* they were given up */
    int64_t program_ended_at;           /* monotonic */
    cm_timer *unawaited;                /* runs out when they are */

    struct cm_buf logs; /* [{level, text}, … without the closing bracket */
    uint64_t logs_kept; /* bytes of text in it */
    bool logs_lost;     /* there were so many lines that their braces filled it */
    char *warnings[RT_WARNINGS_MAX];
    size_t n_warnings;
    char last_call[2 * CM_NAME_MAX_BYTES + 32]; /* "github.search (line 3)"; "" before the first */
    struct rt_ending ending;
    bool finishing;
    bool unshaped;      /* it was cancelled when it had ended already: its result is told as it is */
    unsigned n_telling; /* pauses that are told when they are on the disk; it stays until then */
    bool gone;          /* and no longer */
    bool is_shaper;     /* it is transformResult's: its own result is told as it is */

    rt_replay *replay; /* the record that it goes on from; NULL: it began in this pass */
    bool replaying;    /* not everything recorded has been delivered again */
    bool catching_up;  /* the program has not stood still since */
    bool giving;       /* recorded outcomes are being delivered */
    char **lines;      /* console lines of the record, as they stand there */
    size_t n_lines, line_at;

    struct rt_listener *listeners; /* whoever decided while it ran, beside fn */
    bool look;                     /* rt->looks has been posted for it */
    bool held;                     /* it is paused, and on rt->held */
    int64_t held_at;               /* monotonic */
    cm_timer *grace;
};

enum rt_phase {
    RT_QUEUED,   /* not decided: as many calls are in flight as may be */
    RT_STARTING, /* not decided: its connector becomes ready */
    RT_PENDING,  /* recorded; a human decides */
    RT_SYNCING,  /* recorded; sent when that is on the disk */
    RT_SENT,     /* recorded; the connector works on it */
    RT_STEP,     /* recorded; the function of the step or the snippet runs in the program */
    RT_TIMER,
    RT_LOOKUP, /* search or describe: connectors become ready */
    RT_PARKED, /* the record is not at its end yet (again.c) */
};

/** One unanswered call. Freed when it was answered; one whose run has ended lives until its connector has let
 * go of it. */
struct rt_call {
    cm_exec *e; /* NULL: the run has ended, only `up` is waited for */
    struct rt_call *next, **prev;
    uint32_t id, seq, line, column;
    enum cm_call_kind kind;
    enum rt_phase phase;
    int64_t parent_seq;
    uint32_t ordinal; /* among the calls of its parent */
    int64_t start,
        start_clock;        /* of a step's function: its place among the deliveries, and the clock there */
    struct rt_entry *entry; /* its row, where the run goes on from a record that has one; borrowed */
    bool resend;            /* it is recorded as sent */
    bool refresh;           /* it has its outcome, but is to run again in every replay */
    int64_t issue_clock;    /* what the program's clock was then, about */
    char *connector, *method;
    struct cm_own_value args; /* canonical; absent when they have no canonical form */
    char hash[RT_HASH_BYTES];
    struct cm_err args_err; /* why they have none */
    bool args_ok, ensured, recorded, active;
    bool intent_stands; /* in the record, on the disk where that matters */
    bool approved;      /* a human said so: it needs no other, but what denies it still counts */
    bool given_up;      /* by the program: it ends as soon as that is possible */
    unsigned flags;
    cm_connector *conn;
    size_t n_lookups;
    cm_call *up;
    struct rt_disk_wait *wait; /* while RT_SYNCING */
    long method_index;         /* then */
    cm_timer *timer;
    uint32_t turn;  /* of a timer: turns that had ended when the program started it */
    int64_t due_at; /* monotonic */
    int64_t started_at;
};

/** ---- exec.c ---- */

/**
 * End the run for a reason of the host's; the first reason counts. The execution may be gone when this
 * returns, so it is the last thing a caller does with it.
 */
void rt_exec_end(cm_exec *e, enum cm_exec_state state, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** The store failed: nothing may go on that cannot be recorded. As rt_exec_end. */
void rt_exec_store_failed(cm_exec *e, const struct cm_err *err);
void rt_exec_warn(cm_exec *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The clock that the program sees moves to now, never back. */
void rt_exec_move_clock(cm_exec *e);
/** Pause soon when nothing but a human can let the program go on. As rt_exec_end. */
void rt_exec_check_quiescent(cm_exec *e);
/** Whether that is so. */
bool rt_exec_is_quiescent(const cm_exec *e);
/** It has ended (end NULL: a single call, or the runtime is closed): record; when that is on the disk: tell, free. */
void rt_exec_finish(cm_exec *e, const struct cm_pass_end *end);
/** Take it off the runtime's list; free what it holds (unlinking it too). */
void rt_exec_unlink(cm_exec *e);
void rt_exec_free(cm_exec *e);
/** Record what the single call gave; the execution ends. */
void rt_exec_direct_answer(cm_exec *e, bool failed, struct cm_value value);
/** A single call's time has come: start or finish it (the loop's callback of rt->direct). */
void rt_direct_turn(void *user);
/** End it now, as cancelled, and call back: the runtime is being closed. */
void rt_exec_close(cm_exec *e);
/** Something was written outside a sync: commit at the end of the loop's turn. */
void rt_touch(cm_runtime *rt);

/** An execution without a life yet: rt_exec_link gives it one, rt_exec_free ends it. */
cm_exec *rt_exec_new(cm_runtime *rt, const struct cm_limits *l, cm_exec_fn fn, void *user);
cm_status rt_exec_start_pass(cm_exec *e, struct cm_str code, struct cm_value input, const uint8_t seed[16],
                             struct cm_err *err);
void rt_exec_link(cm_exec *e);
/** Add one line to the log: {"level", "text"}; kept: bytes of text, which count. */
void rt_log_add(cm_exec *e, struct cm_str line, size_t kept);

/** ---- again.c: a run that goes on from its record ---- */

/** Give a call its number, and its row where it has one. False: it diverges; the execution is ended and the call gone. */
bool rt_again_number(struct rt_call *c);
/** Whether the record sees to it, now or later. As rt_call_answer. */
bool rt_again_issue(struct rt_call *c);
/** The new outcome of a call that runs again in every replay. */
void rt_again_fresh(struct rt_call *c, bool failed, struct cm_value value);
/** The program cleared a timer. */
void rt_again_cleared(struct rt_call *c);
/** The program stands still. As rt_exec_end. */
void rt_again_waits(cm_exec *e);
/** A human has said yes to the call before it was sent for the first time. */
bool rt_again_was_approved(const struct rt_call *c);
/** A human is to say whether what was sent is sent again. False: the execution is ended and the call gone. */
bool rt_again_ask(struct rt_call *c, const char *rule);
void rt_again_load_lines(cm_exec *e, struct cm_str logs_json);
/** A console line of this pass. Whether it stands in the record, from where it has gone to the log; otherwise it is a new one. */
bool rt_again_add_line(cm_exec *e, struct cm_str line, size_t kept);
void rt_again_rest_of_lines(cm_exec *e);
void rt_again_done(cm_exec *e);

/** ---- resume.c ---- */

/** Why an execution is not taken up any more, and what to do: at most RT_WARNING_BYTES. */
void rt_interrupted_say(const char *id, uint32_t times, char *out, size_t cap);

/** ---- issue.c ---- */

/** A call was issued. Takes args by copy. */
void rt_call_issue(cm_exec *e, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                   struct cm_str method, struct cm_value args, struct cm_call_place at);
/** A call whose time has come; it has its number. As rt_call_answer. */
void rt_call_begin(struct rt_call *c);
/** "github.search (line 3)" into out. */
void rt_call_describe(const struct rt_call *c, char *out, size_t cap);
/** Whether calls of this kind have a function of the program's that runs. */
static inline bool rt_kind_has_function(enum cm_call_kind kind)
{
    return kind == CM_CALL_STEP || kind == CM_CALL_RUN;
}

/** ---- call.c ---- */

void rt_call_link(struct rt_call *c);
/** New calls of these kinds. As rt_call_answer. */
void rt_call_tool(struct rt_call *c);
void rt_call_step(struct rt_call *c);
/** Decide about it and send it, when as many calls are in flight as may be. As rt_call_answer. */
void rt_call_try(struct rt_call *c);
/** It is in flight no more, but not answered either. */
void rt_call_set_idle(struct rt_call *c);
/** The start of its function takes a place in the order of deliveries: what the function draws and which clock it sees. */
void rt_call_place_start(struct rt_call *c);
/** Run it there. `value`: what a snippet's is given. */
void rt_call_start_function(struct rt_call *c, struct cm_value value);
/** The connector of that name, fetch included, or NULL. */
cm_connector *rt_find_connector(const cm_runtime *rt, const char *name);
/** Whether the method takes the arguments: one object, the input schema where there is one, and the connector's own rules. */
cm_status rt_check_args(cm_connector *conn, size_t method, struct cm_value args, struct cm_err *err);
/** Calls that wait for one of limits.callsInFlight to be answered. */
uint32_t rt_calls_queued(const cm_exec *e);
/** A step's function has ended: its value is recorded, and the recorded form delivered. */
void rt_call_step_end(cm_exec *e, uint32_t id, bool failed, struct cm_value value);
/** Record the outcome and deliver it; the call is gone afterwards, and so may be the execution. */
void rt_call_answer(struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value);
/** Answer with an error that we make: {name, message, code}. As rt_call_answer. */
void rt_call_fail(struct rt_call *c, enum cm_call_state state, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** A human approved a call that is PENDING: it goes on with these arguments, which are those of the record. As rt_call_answer. */
void rt_call_approved(struct rt_call *c, struct cm_value args);
/** A human rejected it: the program gets the error that is recorded. As rt_call_answer. */
void rt_call_rejected(struct rt_call *c, struct cm_value outcome);
/**
 * The program gave a call up (a fetch whose signal was aborted). It is stopped upstream or not sent at all, and how it ended is an outcome
 * like any other: the program is not called back, but replayed it is all the same. One that has its outcome in the record keeps it.
 * As rt_call_answer.
 */
void rt_call_give_up(struct rt_call *c);
/** It is given up and not under way: its end. As rt_call_answer. */
void rt_call_end_given_up(struct rt_call *c);
/** Take it off its execution's list; free it. */
void rt_call_unlink(struct rt_call *c);
void rt_call_free(struct rt_call *c);

/** ---- record.c ---- */

/** A name for the record: valid UTF-8, bounded, no control characters (a NUL would make one name look like another). Owned by the caller. */
char *rt_clean_name(struct cm_str name);
/** sha256 over the JSON, one NUL, the marks: what a human approved is told by it. */
void rt_hash_args(struct cm_value args, char out[RT_HASH_BYTES]);
/** An error value {name, message, code}, marked as one. */
struct cm_own_value rt_error_value(const char *code, const char *message);
/** Account for what goes into the log. False: over the limit, and the execution is ended. */
bool rt_account(cm_exec *e, size_t bytes);
/** The row of a call in this state, without an outcome. Borrows from the call. */
struct cm_call_row rt_call_row(const struct rt_call *c, enum cm_call_state state);
/** Record without an outcome, e.g. an intent. CM_OK, or the execution is ended and the call gone. */
cm_status rt_call_record(struct rt_call *c, enum cm_decision decision, const char *rule,
                         enum cm_call_state state, bool sync);
/** Write the outcome, with its delivery unless the run is ending and nobody gets it. */
cm_status rt_record_outcome(struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value,
                            struct cm_err *err);

/** Put names in place of secrets. Errors: CM_E_INVALID one cannot be taken out of it; v is as it was. */
cm_status rt_without_secrets(const cm_runtime *rt, struct cm_own_value *v, bool canonical,
                             struct cm_err *err);

/** ---- finish.c ---- */

/** Append the array of its warnings; nothing where there are none. */
void rt_write_warnings(const cm_exec *e, struct cm_buf *out);

/** ---- human.c, pending.c, standing.c ---- */

/** Decisions that wait for a connector come to nothing; the runtime is being closed. */
void rt_deferred_close(cm_runtime *rt);
/** Append what a human is asked about one call; false: its arguments cannot be shown. */
bool rt_pending_write(struct cm_buf *out, const char *id, const struct cm_call_row *row,
                      const cm_secrets *secrets);
/** What is so by now: orphans are paused, and what has waited too long has expired. */
cm_status rt_catch_up(cm_runtime *rt, struct cm_err *err);
/** The first of these. */
cm_status rt_recover(cm_runtime *rt, struct cm_err *err);
void rt_expiry_open(cm_runtime *rt);
cm_status rt_no_such(const char *id, struct cm_err *err);
/** The execution that runs here, or NULL. */
cm_exec *rt_find_running(const cm_runtime *rt, const char *id);
/**
 * Its state, in the record, read in a group that stays open, whatever is returned: nothing changes until it is ended. The group is marked:
 * what cannot be written whole is taken back (cm_store_back).
 * Errors: CM_E_NOT_FOUND it is another runtime's; CM_E_CONFLICT "it cannot be WHAT": it has ended.
 */
cm_status rt_look_up(cm_runtime *rt, const char *id, const char *what, enum cm_exec_state *state,
                     struct cm_err *err);
/** Write the end of an execution that nobody runs here, in the open group, which is marked; announced when it is on the disk. */
cm_status rt_end_row(cm_runtime *rt, const char *id, enum cm_exec_state to, struct cm_str error,
                     struct cm_err *err);
/** Each call that was named to be undone is there, and one that can be undone at all. */
cm_status rt_rollback_named(cm_runtime *rt, const struct cm_rollback *spec, struct cm_err *err);
/** fn is told from the loop how the execution stands in the record, or `why` there is nothing to tell. */
void rt_answer_soon(cm_runtime *rt, const char *id, cm_exec_fn fn, void *user, const struct cm_err *why);
/** The loop's callback of rt->answering. */
void rt_answers_turn(void *user);

/** ---- pause.c ---- */

/** At the end of the loop's turn: do what was decided about its calls, or pause it where it stands still. */
void rt_exec_look_soon(cm_exec *e);
/** The loop's callback of rt->looks. */
void rt_looks_turn(void *user);
/** fn is told of its next end or pause, as whoever started it is. */
void rt_exec_listen(cm_exec *e, cm_exec_fn fn, void *user);
/** Whoever waits for it, taken off it; to be told once. */
struct rt_listener *rt_exec_take_listeners(cm_exec *e);
void rt_tell(struct rt_listener *take_list, enum cm_exec_state state, struct cm_str outcome,
             const struct cm_err *err);
/** Tell everybody who waits for it. It may be gone afterwards, unless its caller keeps it. */
void rt_exec_tell(cm_exec *e, enum cm_exec_state state, struct cm_str outcome, const struct cm_err *err);
/** The paused execution whose pass is kept here, or NULL. */
cm_exec *rt_held_find(const cm_runtime *rt, const char *id);
/**
 * Let it go on in place, if it is still what the row says (`passes`, read in the open group, which ends here, on the disk). *out NULL: it is
 * not, or its worker is gone; it is dropped, nothing is claimed, and the record is there to go on from. Errors: as cm_store_claim; dropped.
 */
cm_status rt_held_resume(cm_exec *e, uint32_t passes, cm_exec **out, struct cm_err *err);
/** Let go of its worker; the execution is as it stands in the record. */
void rt_held_drop(cm_exec *e);

/** ---- events.c: what happens, as it happens. All of it is told from the loop. ---- */

void rt_events_set(cm_runtime *rt, cm_event_fn fn, void *user);
/** What waits for the disk may be told. */
void rt_events_on_disk(cm_runtime *rt);
/** What was queued is told now. */
void rt_events_close(cm_runtime *rt);
void rt_event_started(cm_runtime *rt, const char *id, uint32_t pass);
void rt_event_log(cm_runtime *rt, const char *id, const char *level, struct cm_str text);
/** A call's decision is recorded; with "pause" it waits for a human. */
void rt_event_decided(const struct rt_call *c, const char *decision, const char *rule);
void rt_event_outcome(const struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value);
void rt_event_human(cm_runtime *rt, const char *id, uint32_t seq, bool approved, const char *by,
                    const char *reason);
/** error NULL: it was; otherwise why it could not be. */
void rt_event_reverted(cm_runtime *rt, const char *id, uint32_t seq, const char *connector,
                       const char *method, const char *error);
/**
 * The record says that the execution has ended, or is paused: events and the connectors' hooks. `pass`: a pass of it has ended here.
 * To be called once for each such move, after it stands and before its caller is told.
 */
void rt_announce(cm_runtime *rt, const char *id, enum cm_exec_state state, bool pass,
                 struct cm_str error_json);

/** ---- disk.c: waiting for the disk ---- */

/** The runtime may be closed from inside fn, which is called once, when everything recorded so far is on the disk, unless it is forgotten before. */
struct rt_disk_wait *rt_disk_wait(cm_runtime *rt, cm_on_disk_fn fn, void *user);
/** It is not called. Not from inside it, and not after it; NULL is allowed. */
void rt_disk_forget(struct rt_disk_wait *w);
/** What is recorded so far shall be on the disk soon; nobody waits for it. */
void rt_disk_ask(cm_runtime *rt);
/** The number of the sync that will cover what is recorded now, and whether that one has been. */
uint64_t rt_disk_next(const cm_runtime *rt);
bool rt_disk_has(const cm_runtime *rt, uint64_t sync);
/** Nobody waits. */
bool rt_disk_is_idle(const cm_runtime *rt);
/** The open group was committed at the end of a turn, or could not be (failed). False: the runtime is gone. */
bool rt_disk_turn(cm_runtime *rt, const struct cm_err *failed);
cm_status rt_disk_open(cm_runtime *rt, struct cm_err *err);
/** Wait here and now until nobody waits any more: the runtime is being closed. */
void rt_disk_drain(cm_runtime *rt);
void rt_disk_close(cm_runtime *rt);

/** ---- rollback.c ---- */

/** Those under way end; the revert that was sent stays unknown. */
void rt_rollbacks_close(cm_runtime *rt);

/** ---- shape.c: what is told of a result, and what stays in the record ---- */

#define RT_OUTCOME_MAX_BYTES (1u << 30)
struct rt_outcome_opts;
/** Take out of the record what the configuration wants out of it, in the open group; the execution ends as `state`. */
cm_status rt_drop_parts(cm_runtime *rt, const char *id, enum cm_exec_state state, struct cm_err *err);
/** How much of a result is told. */
uint64_t rt_told_bytes(const cm_exec *e);
/** Let the embedder say what is told of the result; `told` holds it. */
void rt_transform(const cm_runtime *rt, const struct cm_exec_row *row, struct rt_outcome_opts *opts,
                  struct cm_buf *told);
/** Whether the execution, which has ended so and is off every list, is told and freed later from here. */
bool rt_shape_later(cm_exec *e, const struct cm_exec_row *row);
/** It is told soon, with its result as it is. */
void rt_shape_cancel(const cm_exec *e);

/** ---- refuse.c ---- */

/** Answer with the refusal's error; `why` says what is wrong with arguments. As rt_call_answer. */
void rt_call_refuse(struct rt_call *c, const struct cm_call_decision *d, const struct cm_err *why);

/** ---- settle.c ---- */

/** Of a call that this pass has not sent: whether one before it had, so that nobody knows what became of it. */
bool rt_call_was_sent(const struct rt_call *c);
/** The run has ended in `state`: cancel, record, warn about and free what is unanswered. CM_OK or the store's
 * failure. */
cm_status rt_calls_settle(cm_exec *e, enum cm_exec_state state, struct cm_err *err);

/** ---- unawaited.c: calls that the program did not await ---- */

/** The program has ended and stands still: wait on for what is under way, or end the pass. */
void rt_unawaited_look(cm_exec *e);
void rt_unawaited_done(cm_exec *e);

/** ---- sdk.c: search, describe, timers ---- */
void rt_sdk_issue(struct rt_call *c);
/** The program cleared a timer: it is gone without an outcome, and without a record. */
void rt_sdk_clear(struct rt_call *c);
/** Timers that are due go to the program, if it is its time. */
void rt_sdk_fire(cm_exec *e);
/** Stop its timer, forget its connectors. */
void rt_sdk_stop(struct rt_call *c);

/** ---- snippet.c: codemode.run ---- */

#define RT_SNIPPET_NAME_MAX 64
/** One snippet, kept beyond the store's reading. */
struct rt_snippet {
    char *name, *description, *code, *schema, *connectors, *execution;
    size_t code_len, schema_len;
    int64_t saved_at;
};
void rt_snippet_done(struct rt_snippet *k);
#define RT_AUTO_SNIPPET __attribute__((cleanup(rt_snippet_done))) struct rt_snippet

/** CM_E_NOT_FOUND names those that are near. */
cm_status rt_snippet_find(cm_runtime *rt, struct cm_str name, struct rt_snippet *out, struct cm_err *err);
bool rt_snippet_is_name(struct cm_str name);
bool rt_has_connector(const cm_runtime *rt, struct cm_str name);
void rt_snippet_issue(struct rt_call *c);
/** Run `code`, its text, with the recorded input; a step from then on. */
void rt_snippet_execute(struct rt_call *c, struct cm_str code);

/** ---- guest.c: what a worker says about how a pass ended ---- */

/**
 * Append the error object of the outcome, rebuilt field by field from DONE's meta: {"name", "message",
 * "code"?, "line"?, "column"?, "source"?, "stack"?}. Whatever the worker sent, this is bounded, is what it
 * says it is, and has no code of the host's.
 */
void rt_guest_error(struct cm_str meta_json, struct cm_buf *out);
/**
 * Add what the error has besides, as readers see it, to the error object that `out` ends with: `fields` is an object, or the
 * error of a failed call. What is no value, or larger than RT_ERROR_FIELDS, adds nothing.
 */
void rt_guest_fields(struct cm_value fields, struct cm_buf *out);
/** Add where the program was, as far as DONE's meta says, to the error object that `out` ends with. */
void rt_guest_place(struct cm_str meta_json, struct cm_buf *out);
/** Take over the warnings of DONE's meta, bounded. */
void rt_guest_warnings(cm_exec *e, struct cm_str meta_json);
/** Append {"name":"Error","message":…,"code":…} of the host's own words, redacted. */
void rt_host_error(const cm_runtime *rt, const char *code, const char *message, struct cm_buf *out);

/** ---- outcome.c ---- */

struct rt_outcome_opts {
    uint64_t result_bytes;          /* cut the result beyond this; 0: whole */
    bool record;                    /* add code, runtime, times, and the rule of each call */
    struct cm_str told;             /* JSON in place of the result; empty: the result */
    char warning[RT_WARNING_BYTES]; /* beside the recorded ones; "": none */
};
/** A row copied out of the store's reading, which must not be called from inside. Zero-initialise. */
struct rt_kept {
    struct cm_exec_row row;
    struct cm_own_value input, result;
    char *text[7];
};
/** cm_exec_row_fn into a struct rt_kept. */
bool rt_keep_row(void *user, const struct cm_exec_row *row);
void rt_kept_done(struct rt_kept *k);
/** Append the outcome of a recorded execution; its calls are read from the store. Damaged parts are left out
 * and named in warnings. */
cm_status rt_outcome_write(cm_store *store, const struct cm_exec_row *row, const struct rt_outcome_opts *o,
                           struct cm_buf *out, struct cm_err *err);

#endif
