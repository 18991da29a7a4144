/**
 * driver: codemode's own side of the bench, through <codemode.h>, with tools in this process.
 *
 * It does what somebody would write who embeds the library, measures inside itself, and says the samples. driver.c has the two ways to
 * ask it (lines of JSON, a command line), worlds.c the contexts, and a workload is a function of one of the other files and a row of
 * the table in driver.c.
 */
#ifndef CM_BENCH_DRIVER_H
#define CM_BENCH_DRIVER_H

#include "base/base.h"

#include <codemode.h>

#include <sys/types.h>

/** What a request may say besides the workload; zero or NULL: as the workload has it. */
struct settings {
    const char *log;       /* "on": a store on the disk, as a server has it (default); "off": "memory:" */
    const char *isolation; /* "realm" (default), "vm", "process" */
    const char *part;      /* of W6, W11: which part */
    const char *code;      /* W1, W2, W10: another program; W8: one bomb in place of those of the tests */
    const char *bombs;     /* W8: their folder */
    uint32_t runs;         /* samples */
    uint32_t first;        /* 1: each run is the first one of its worker, which is taken from the pool */
    uint32_t
        effects; /* 1: the tool that is called has effects, so its intent is synced before it is called */
    uint32_t pause_ms;        /* before each sample, uncounted: for the pool to fill up */
    uint32_t in_flight;       /* W10 */
    uint32_t ms;              /* W10: how long */
    uint32_t waiting;         /* W9: runs that wait */
    uint32_t calls;           /* W11, replay: length of the log */
    uint32_t cpu_ms;          /* W7: the limit */
    uint32_t memory_mb;       /* W8: the limit */
    uint32_t runs_per_worker; /* before it is replaced */
    uint32_t others;          /* W7: 0: alone, 1: with other runs going on */
};

#define MAX_FIGURES 24

/** What a workload has found. Members that it does not set are not told. */
struct answer {
    double *ms; /* samples */
    size_t n_ms;
    double host_cpu_ms, sandbox_cpu_ms; /* of a run, in the mean: this process, and its workers */
    double per_second;
    struct {
        const char *name;
        double value;
    } figures[MAX_FIGURES];
    size_t n_figures;
    char note[256]; /* what a figure is of */
};

/** Ends the program: a bench that is wrong somewhere measures nothing. */
_Noreturn void bench_fail(const char *what, const char *why);
double bench_now_ms(void);
/** CPU time that was used, from the first call with an answer to the next one with it, by the `n` runs in between. */
void bench_cpu_from(struct answer *a);
void bench_cpu_of(struct answer *a, uint64_t n);
void bench_sample(struct answer *a, double ms);
void bench_figure(struct answer *a, const char *name, double value);
/** Of samples in any order, which get sorted; q from 0 to 1, nearest rank. 0 of none. */
double bench_quantile(double *samples, size_t n, double q);

/** ---- worlds.c: contexts, each with its tools ---- */

/** What a context is opened with; two of the same share one. */
struct world_kind {
    bool log;
    const char *isolation;
    uint32_t grace_ms, runs_per_worker, max_workers;
};

struct world {
    cm_ctx *ctx;
    struct world *next;
    char *key;
    cm_tool_call *held[1024]; /* calls of bench.hold, unanswered */
    size_t n_held;
};

struct world_kind world_kind_of(const struct settings *s);
/** The world of this kind, opened and warmed up when there is none. Borrowed. */
struct world *world_get(const struct world_kind *kind);
void world_close_all(void);
/** A folder for what is written, on the disk that stores are on. Removed by world_close_all. */
const char *world_folder(void);
/** Handle events for so long, whatever happens. */
void world_idle(struct world *w, uint32_t ms);
/** Answer what is held. */
void world_release(struct world *w);
/** Run to the end; its result as JSON must be `expected` (NULL: whatever it is). The time from before the call until the outcome is freed. */
double world_run(struct world *w, const char *code, const char *expected);

/** ---- procs.c: what the kernel says of a process; 0 when it is gone ---- */

/** The processes that it started, and those they started; how many. */
size_t procs_below(pid_t root, pid_t *out, size_t max);
uint64_t procs_rss_kb(pid_t pid);
uint64_t procs_most_rss_kb(pid_t pid); /* the most it has had */
uint64_t procs_pss_kb(pid_t pid);      /* with its share of what others have, too */
double procs_cpu_ms(pid_t pid);        /* of one of one thread, and of its children that have ended */

/** ---- workloads ---- */

typedef void workload_fn(const struct settings *s, struct answer *a);
workload_fn w1_smallest, w2_one_call, w3_calls_in_turn, w4_calls_at_once, w5_large_result, w6_compute,
    w7_cpu_limit, w8_bombs, w9_memory, w10_throughput, w11_durable;

#endif
