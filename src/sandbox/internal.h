/**
 * What the files of this folder share.
 *
 *   sandbox.c   open, close, the pool: which pass gets which worker, when to fork, when to evict
 *   control.c   the zygote: start, messages, death and restart
 *   worker.c    one worker: its state table, frames in, retirement, samples of its memory
 *   pass.c      one pass: calls, limits, its one end
 *   clocks.c    its clocks, and how they stop while a human decides
 *   done.c      the end that a worker itself reports
 *   queue.c     passes that wait: whose turn it is, and how many may
 *   verdict.c   the sentence for each way to end
 *   find.c      where the worker program is
 *
 * Lifetimes: a cm_worker lives from FORK until it is known to be gone (EXITED, or the zygote's death), a
 * cm_pass from start until its on_end returned. Neither is freed inside an event: both go on lists that the
 * sandbox's `soon` sweeps. The two point at each other only while the pass runs; whoever ends first clears
 * both pointers.
 */
#ifndef CM_SANDBOX_INTERNAL_H
#define CM_SANDBOX_INTERNAL_H

#include "sandbox/sandbox.h"
#include "wire/control.h"

#include <sys/types.h>
#include <time.h>

struct cm_worker;

/** ---- verdict.c: how a pass ended, before anyone is told ---- */
struct cm_verdict {
    enum cm_pass_end_kind kind;
    char *code;    /* owned */
    char *message; /* owned */
};
/** Codes of our own; each has its row in verdict.c. */
enum cm_end_code {
    CM_END_CPU,
    CM_END_WALL,
    CM_END_DEADLINE,
    CM_END_MEMORY,
    CM_END_STACK,
    CM_END_CALLS,
    CM_END_TIMERS,
    CM_END_FRAME,
    CM_END_CRASHED,
    CM_END_PROTOCOL,
    CM_END_CANCELLED,
    CM_END_NO_WORKER,
    CM_END_EVICTED,
    CM_END_COUNT_
};
/** Fill v for `code`; `detail` is put where the row says (NULL: nothing). */
void cm_verdict__make(struct cm_verdict *v, enum cm_end_code code, const struct cm_limits *limits,
                      const char *detail);
void cm_verdict__done(struct cm_verdict *v);
/** "signal 11 (Segmentation fault)", "exit status 3", … of an EXITED message, into buf; returns buf. */
const char *cm_verdict__exit_text(const struct cm_control_msg *m, char *buf, size_t size);

/** ---- find.c ---- */
cm_status cm_find__worker(const char *option, char **out, struct cm_err *err);

/** ---- worker.c ---- */
enum cm_worker_state {
    CM_WORKER_FORKING,  /* FORK was sent */
    CM_WORKER_STARTING, /* it exists and has not said HELLO */
    CM_WORKER_READY,    /* it waits for a pass; bound when `lane` is set */
    CM_WORKER_BUSY,     /* a pass runs or waits in it */
    CM_WORKER_TIDYING,  /* DONE came or DROP was sent, IDLE has not come */
    CM_WORKER_DYING,    /* killed, or hung up: waiting to hear how it ended */
    CM_WORKER_GONE,     /* to be freed by the sweep */
};

/** Memory of a process as the kernel counts it. */
struct cm_memory_use {
    uint64_t resident_kb; /* text and data of libraries included */
    uint64_t anon_kb;     /* of it, what is no file's */
    uint64_t
        data_kb; /* what may be written, touched or not; with the stack, some 100 KB more than RLIMIT_DATA counts */
};

struct cm_worker {
    cm_sandbox *sb;
    struct cm_worker *next;
    uint64_t serial;
    enum cm_worker_state state;
    pid_t pid;
    int pidfd;
    clockid_t cpu_clock; /* of the process, where has_cpu_clock */
    bool has_cpu_clock;
    cm_stream *stream;
    struct cm_buf in;     /* bytes of a frame that is not complete */
    struct cm_lane *lane; /* of the runtime that it is bound to; NULL: unbound */
    char *bind_json;      /* as sent last; NULL: nothing sent */
    uint32_t n_runs;
    int64_t born_ms;    /* monotonic, when it came into being */
    int64_t used_ms;    /* monotonic, when its last pass began */
    int64_t since_ms;   /* monotonic, since when it is starting or tidying: neither may take for ever */
    bool claimed;       /* tidying, and one waiting pass counts on it */
    uint64_t vmdata_kb; /* of data at its start; 0: its data is not limited */
    uint64_t data_kb;   /* soft limits as set last */
    uint64_t cpu_s;
    struct cm_memory_use start; /* when it was ready */
    uint64_t
        base_kb; /* of data when its next pass begins: what that pass's limit counts from; 0: not limited */
    uint64_t base_anon_kb; /* the same of anonymous resident memory, for the samples */
    int64_t look_ms;       /* monotonic: before that its pass cannot have used up its memory */
    bool retire;           /* no further pass, whatever the counters say */
    bool hung_up;          /* its socket has ended */
    bool exited;           /* `exit` is filled */
    bool handling;         /* bytes of it are being handled: what it says comes in order */
    bool last_words;       /* it has been killed, and only its console lines still count */
    struct cm_control_msg exit;
    cm_pass *pass;
};

struct cm_worker *cm_worker__new(cm_sandbox *sb, uint64_t serial);
/** NULL: there is none of that number. */
struct cm_worker *cm_worker__find(const cm_sandbox *sb, uint64_t serial);
void cm_worker__free(struct cm_worker *w);
/** FORKED came: take its descriptors. */
void cm_worker__adopt(struct cm_worker *w, const struct cm_control_msg *m, int take_socket, int take_pidfd);
/** EXITED came, or (m NULL) its zygote is gone and it with it. */
void cm_worker__exited(struct cm_worker *w, const struct cm_control_msg *m);
/** Kill it; whatever its pass's end is must have been noted before. */
void cm_worker__kill(struct cm_worker *w);
/** It is about to be ended from outside: kill it, and take the console lines that it wrote before. */
void cm_worker__hear_out(struct cm_worker *w);
/**
 * Send a frame; frames of one turn of the loop go out together. False: it is too long, or more wait to be read than may. To a worker
 * that is gone nothing is sent: its end is told by other means.
 */
bool cm_worker__send(struct cm_worker *w, enum cm_frame_type type, uint8_t flags, uint32_t id,
                     const struct cm_str *parts, size_t n_parts);
/** Its pass is over, and IDLE comes next: within TIDY_MAX_MS, or it is killed. */
void cm_worker__tidy(struct cm_worker *w);
/** What is known now already to serve no other pass need not tidy up. */
void cm_worker__kill_unfit(struct cm_worker *w);
/** Workers of a runtime that are ready, or will be in a moment. */
uint32_t cm_worker__count_free(const cm_sandbox *sb, const struct cm_lane *lane);
/** Send frames that stand in bytes. */
bool cm_worker__send_bytes(struct cm_worker *w, struct cm_str bytes);
/** Whether it may take another pass, by age, runs and growth. */
bool cm_worker__is_fit(const struct cm_worker *w);
/** Set its soft limits; 0 leaves one as it is. */
void cm_worker__limit(struct cm_worker *w, uint64_t data_kb, uint64_t cpu_s);
/** CPU time of its process so far; 0 when it cannot be read. */
uint64_t cm_worker__cpu_us(const struct cm_worker *w);
/** How long it could have run and had no processor, in all; 0 when it cannot be read. A start that takes long for that reason is none that failed. */
int64_t cm_worker__starved_ms(const struct cm_worker *w);
/** Memory now; all 0 when it cannot be read. */
struct cm_memory_use cm_worker__memory(const struct cm_worker *w);

/** ---- pass.c ---- */
enum cm_pass_clock {
    CM_CLOCK_OFF,     /* queued, or over */
    CM_CLOCK_RUNNING, /* the program runs: cpu, wall and deadline count */
    CM_CLOCK_WAITING, /* nothing can go on before an outcome: only the deadline counts */
};

enum cm_call_state {
    CM_CALL_OPEN,      /* issued, not answered */
    CM_CALL_EXECUTING, /* a step whose function runs */
};

struct cm_call {
    uint32_t id;
    uint8_t kind;
    uint8_t state;
};

struct cm_pass {
    cm_sandbox *sb;
    cm_pass *next; /* in the queue, or among the ended */
    struct cm_worker *worker;
    const struct cm_pass_events *ev;
    void *user;

    /* What to run; freed once it was sent. */
    struct cm_lane *lane; /* its runtime */
    char *bind_json;
    struct cm_buf run; /* the RUN frame; kept until the worker has been heard */
    uint64_t turn;     /* its place among those that wait: queue.c */
    bool restarted;    /* its first worker died before it was heard */

    struct cm_limits limits;
    cm_timer *timer;
    enum cm_pass_clock clock;
    bool armed_running; /* the timer was set while the program ran, for the first of all its limits */
    int64_t start_ms;   /* when it was asked for: the deadline's start */
    int64_t resumed_us; /* when the program began to run, the last time */
    int64_t wall_us;    /* what earlier stretches used */
    bool held;          /* it waits for a human: no clock runs, and its worker may be taken away */
    int64_t held_ms;    /* monotonic, since when */
    uint64_t cpu_start_us;

    struct cm_call *calls; /* unanswered or executing; limits bound it */
    size_t n_calls, cap_calls;
    uint32_t last_id;
    uint32_t n_open_timers;
    uint32_t n_turns; /* RUN and OUTCOMEs sent: each gives the worker one turn */
    uint32_t n_waits; /* turns that ended in WAIT */
    uint64_t log_left;
    uint64_t log_bytes; /* all that was written, kept or not */
    bool log_full;

    bool stopping; /* `verdict` stands */
    bool ended;    /* on_end is due */
    struct cm_verdict verdict;
    uint64_t cpu_us;
};

/** Send it to a worker that is READY. */
void cm_pass__dispatch(cm_pass *p, struct cm_worker *w);
/** Bytes of its worker came: what it does is seen from here on, and it cannot be started again unseen. */
void cm_pass__heard(cm_pass *p);
/** A frame of its worker. */
void cm_pass__frame(cm_pass *p, const struct cm_frame *f);
/** Its worker died or broke the rules, or a limit was hit: note the end, let go of the worker, tell the user
 * from the sweep. */
void cm_pass__end(cm_pass *p, enum cm_end_code code, const char *detail);
/** Its worker is gone by itself: crashed, or out of memory. m NULL: with the zygote. */
void cm_pass__worker_died(cm_pass *p, const struct cm_control_msg *m);
/** ---- clocks.c ---- */

/** It runs, or waits, from now on. */
void cm_pass__set_clock(cm_pass *p, enum cm_pass_clock to);
/** Look at all clocks: end the pass, or arm the timer for the next one that can run out. */
void cm_pass__check_clocks(cm_pass *p);
/** The timer's callback. */
void cm_pass__on_timer(void *user);

/** ---- done.c ---- */

/** DONE came: tell its user, free it, and let its worker tidy up. */
void cm_pass__done(cm_pass *p, const struct cm_frame *f);

/** ---- pass.c, its end ---- */

/** Call on_end and free it. */
void cm_pass__finish(cm_pass *p);
void cm_pass__free(cm_pass *p);

/** ---- queue.c ---- */

/**
 * A runtime as the pool sees it: it is there while a pass or a worker is its own. So two of them are the same runtime exactly when they are
 * the same lane, and what is asked of each again and again while many wait is counted and not looked for.
 */
struct cm_lane {
    struct cm_lane *next;
    uint32_t n_refs;
    uint32_t n_waiting; /* passes in the queue */
    uint64_t last_turn; /* of the last of them */
    /* While passes and workers are matched: */
    uint32_t
        n_workers; /* that it has, and that are on their way for its waiting passes; those that are held do not count */
    bool stuck; /* nothing was to be had for one of its passes, and so there is not for the next */
    char name[];
};
/** The lane of that name, made when there is none; one reference more. */
struct cm_lane *cm_lane__ref(cm_sandbox *sb, const char *name);
/** One reference less; NULL is allowed. */
void cm_lane__unref(cm_sandbox *sb, struct cm_lane *lane);

/** Put it where its runtime's turn is. */
void cm_queue__add(cm_sandbox *sb, cm_pass *p);
/** Take it out, if it is there. */
void cm_queue__remove(cm_sandbox *sb, cm_pass *p);
/** Take the one at *at, which gets its worker. */
void cm_queue__take(cm_sandbox *sb, cm_pass **at);

/** ---- control.c ---- */
struct cm_zygote_link {
    pid_t pid; /* 0: none runs */
    int pidfd;
    int control_fd;
    cm_watch *control;
    cm_watch *death;
    cm_stream *errors; /* its standard error */
    struct cm_buf error_text;
    bool said_hello;
    bool made_worker; /* one that got ready: what is wrong later is not wrong with its start */
    uint64_t layers;
    bool vm_per_worker;
    unsigned n_failures; /* starts in a row of which no worker got ready */
    int64_t failed_ms;
    cm_timer *retry;
};

/** Start the zygote. On failure the reason is noted and a retry armed, until there were too many. */
void cm_control__start(cm_sandbox *sb);
/** Ask for a worker. False: not now. */
bool cm_control__fork(cm_sandbox *sb, uint64_t serial);
/** Send it a message. False: not now. */
bool cm_control__send(cm_sandbox *sb, const struct cm_control_msg *m);
/** Kill the zygote and wait until it is gone. */
void cm_control__stop(cm_sandbox *sb);

/** ---- sandbox.c ---- */
struct cm_sandbox {
    cm_loop *loop;
    struct cm_sandbox_opts opts;
    char *worker_path;
    bool one_pass_each; /* isolation "process" */
    bool vm_each;       /* isolation "vm" */
    struct cm_zygote_link zygote;
    struct cm_worker *workers;
    struct cm_lane *lanes;
    cm_pass *queue; /* sorted by turn */
    uint64_t turn;  /* the highest that got a worker */
    cm_pass *ended, **ended_tail;
    uint64_t next_serial;
    uint64_t n_passes;
    unsigned n_worker_failures; /* workers in a row that did not get to HELLO */
    char *broken;               /* why no worker can be had; NULL: all is well */
    int64_t broken_ms;          /* monotonic, since when */
    cm_soon *sweep;
    cm_timer *refill;
    cm_timer *sampler;
    bool refill_armed;
    int64_t sample_ms; /* monotonic, when the sampler fires; 0: it is not armed */
    unsigned n_processors;
    bool closing;
};

/** One without a zygote, the first half of opening; its workers are those that it is given. */
cm_sandbox *cm_sandbox__make(cm_loop *loop, const struct cm_sandbox_opts *opts);
/** Match passes and workers and keep the pool; calls no event. */
void cm_sandbox__pump(cm_sandbox *sb);
/** The same from the loop in a moment, with ended passes told and what is gone freed. */
void cm_sandbox__wake(cm_sandbox *sb);
/** Before a new pass is matched: start what waited for the first, leave the broken state after a pause, or end the pass. */
void cm_sandbox__try_again(cm_sandbox *sb);
/** A worker could not be had, with the reason; after a few in a row the waiting passes end. */
void cm_sandbox__worker_failed(cm_sandbox *sb, const char *why);
/** Nothing can be had: every waiting pass ends with `why`. */
void cm_sandbox__broken(cm_sandbox *sb, const char *why);
/** When a pass that begins to run is looked at first. */
#define CM_SAMPLE_FIRST_MS 20
/** Look at running workers' memory from now on, until none runs; the first time no later than after `ms`. */
void cm_sandbox__sample(cm_sandbox *sb, int64_t ms);

#endif
