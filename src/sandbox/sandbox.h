/**
 * sandbox: the host's side of the workers - spawning, the pool, limits, the watchdog.
 *
 * It is not the runtime: it neither logs nor decides; it turns one worker's frames into events and enforces
 * every limit from outside. Start with cm_sandbox_start. A worker is bound at its first pass to one runtime
 * name and never serves another.
 *
 * Invariants: every pass ends in exactly one on_end, never inside cm_sandbox_start; no event after it. The
 * reason for a kill is noted before the kill. A worker that hit a limit, crashed or broke the protocol is not
 * reused.
 */
#ifndef CM_SANDBOX_SANDBOX_H
#define CM_SANDBOX_SANDBOX_H

#include "base/base.h"
#include "base/limits.h"
#include "loop/loop.h"
#include "wire/wire.h"
#include "json/value.h"

typedef struct cm_sandbox cm_sandbox;
typedef struct cm_pass cm_pass;

struct cm_sandbox_opts {
    const char
        *worker_path; /* NULL: $CODEMODE_WORKER, then beside this program, then the installed libexec */
    bool no_jit;
    const char *isolation;    /* "realm" (default), "vm", "process" */
    uint32_t stack_kb;        /* the most that limits.stack_kb of a pass may be; 0: 1024 */
    uint32_t max_workers;     /* 0: 64 */
    uint32_t max_queued;      /* passes of one runtime that wait for a worker; 0: 1000 */
    uint32_t pool_size;       /* ready unbound workers kept; 0: 2 */
    bool one_shot;            /* one worker is made at the start, and nothing in reserve of it */
    uint32_t runs_per_worker; /* 0: 1000 */
    uint32_t worker_age_ms;   /* 0: one hour */
    bool on_demand;           /* the zygote is started by the first pass, not by opening */
    uint32_t start_ms;        /* from the start of the worker program to its first word; 0: ten seconds */
};

/** Starts the zygote, unless on demand; does not wait for it. Errors: CM_E_NOT_FOUND no worker program, with every place that
 * was tried. */
cm_status cm_sandbox_open(cm_loop *loop, const struct cm_sandbox_opts *opts, cm_sandbox **out,
                          struct cm_err *err);
/**
 * Ends every pass as cancelled, kills all workers and the zygote. Blocks until they are gone (milliseconds).
 * Not from inside an event.
 */
void cm_sandbox_close(cm_sandbox *sb);
CM_DEFINE_AUTO(cm_sandbox, cm_sandbox_close)

/** Layers that hold (bit set of enum cm_layer); CM_E_UNAVAILABLE until the zygote has said so: on demand, after the
 * first pass. */
cm_status cm_sandbox_layers(const cm_sandbox *sb, uint64_t *layers, struct cm_err *err);

struct cm_pass_spec {
    const char *runtime; /* whose worker; copied */
    struct cm_str source;
    struct cm_str bind_json; /* sent when it differs from what the worker has */
    struct cm_value input;
    uint8_t seed[16];
    int64_t now_ms;
    bool normalize; /* answer the normalised text instead of running it */
    struct cm_limits limits;
};

enum cm_pass_end_kind {
    CM_PASS_COMPLETED, /* value is the result */
    CM_PASS_THREW,     /* the program's own error; meta has it */
    CM_PASS_LIMIT,     /* a limit; code names it */
    CM_PASS_CRASHED,   /* the worker died without a reason of ours */
    CM_PASS_PROTOCOL,  /* the worker broke the wire's rules */
    CM_PASS_CANCELLED, /* cm_pass_cancel or close */
    CM_PASS_FAILED,    /* no worker could be had */
    CM_PASS_EVICTED,   /* it was held, and another pass needed its worker */
};

/** How a pass ended. Everything is borrowed for the duration of on_end. */
struct cm_pass_end {
    enum cm_pass_end_kind kind;
    const char
        *code; /* "cpu_limit", "wall_limit", "deadline", "memory_limit", "crashed", … ; "" when completed */
    const char
        *message; /* a sentence for whoever reads it: limit, value, what to do; "" when completed or threw */
    struct cm_value value;   /* threw: the fields of the error, an object, or absent */
    struct cm_str meta_json; /* DONE's meta, checked to be an object; empty when there was no DONE */
    uint64_t cpu_us;
    uint64_t log_bytes; /* of console output, what was dropped included */
};

struct cm_pass_events {
    /**
     * A call was issued; answer with cm_pass_deliver now or later. args are as the worker sent them: not
     * canonical yet, and bounded by frame_bytes. limits.arg_bytes counts canonical bytes, so it is checked by
     * whoever makes them, and answered with an error that is logged like any other outcome.
     */
    void (*on_call)(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, struct cm_call_place at);
    /** The function of a step has ended; answer with cm_pass_deliver (not `execute`) and the value as
     * recorded. */
    void (*on_step_end)(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value);
    /** One console line, already within log_bytes; the line that says lines were dropped comes once. */
    void (*on_log)(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text);
    /** The program can go on only with an outcome: `outstanding` calls are unanswered. */
    void (*on_wait)(void *user, cm_pass *p, uint32_t outstanding);
    void (*on_end)(void *user, cm_pass *p, const struct cm_pass_end *end);
    /** A timer was cleared: deliver nothing for it any more. Or the program gave a connector's call up (TOOL): deliver how it ended,
     * soon. NULL: timers may fire, and calls go on, all the same. */
    void (*on_cancel)(void *user, cm_pass *p, uint32_t id);
    /**
     * Comes once or more often when the program has ended, before on_wait (`failed`: by an error) while calls that it did not
     * await are unanswered. Go on delivering, until on_end comes, or cm_pass_finish. NULL: nobody waits for them.
     */
    void (*on_ended)(void *user, cm_pass *p, bool failed);
};

/**
 * Whether one more pass of the runtime may wait. Asked before anything is recorded of it; start asks again.
 *
 * Errors: CM_E_LIMIT  max_queued of them wait already.
 */
cm_status cm_sandbox_admits(const cm_sandbox *sb, const char *runtime, struct cm_err *err);
/**
 * Queue a pass. *out is valid until on_end returned. Never calls an event before it returns. Passes of one runtime get
 * their workers in the order of their starts; between runtimes the workers go round.
 *
 * Errors: CM_E_LIMIT  program, input, names or queue too large; nothing was queued.
 */
cm_status cm_sandbox_start(cm_sandbox *sb, const struct cm_pass_spec *spec, const struct cm_pass_events *ev,
                           void *user, cm_pass **out, struct cm_err *err);
/**
 * Answer a call. Outcomes are delivered in the order of these calls. The program's clock moves to now_ms, and what it draws until the next
 * outcome is a function of (seed, draw): who gives an outcome again gives the same numbers. Unknown or answered ids are an assertion.
 */
void cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                     int64_t now_ms, uint32_t draw);
/** The program has ended (on_ended): on_end comes with its result, whatever is unanswered. */
void cm_pass_finish(cm_pass *p);
/**
 * End it: on_end comes with kind (CANCELLED or LIMIT), code and message given here. Both texts are copied. Its worker is killed if the
 * program runs, or its runtime has two free ones; if it stands still it is dropped, and the worker serves the next pass of its runtime.
 */
void cm_pass_stop(cm_pass *p, enum cm_pass_end_kind kind, const char *code, const char *message);
/**
 * It waits for a human, for as long as that takes: every clock of it stands still, and it does not count where workers are shared
 * between runtimes. Its worker is the first to be taken away when another pass needs one: the one held longest, before any that is
 * idle. on_end then comes with EVICTED, "evicted". Only while the program stands still (on_wait came, and nothing was delivered since);
 * nothing is delivered before the release.
 */
void cm_pass_hold(cm_pass *p);
/** Its clocks go on from where they stood. False: it has ended meanwhile, and on_end is about to say so. */
bool cm_pass_release(cm_pass *p);
/**
 * How many turns of the program have ended: it has one from its start and one for each outcome, in their order, and what it issues in a turn
 * comes before the end of that turn.
 */
uint32_t cm_pass_turns(const cm_pass *p);
/** The worker's process id, for tests and `check`; 0 while the pass is queued. */
int64_t cm_pass_pid(const cm_pass *p);

#endif
