/**
 * load: very many programs at once in one host with several runtimes, a tenth of them hostile; who gets what, how long each waited, and
 * what is left behind.
 *
 *   load [SECONDS] [KEY=VALUE…]      rows of `rows` in load.c; the report is text, or JSON with json=1
 *
 * All programs are accepted at once; one that ends is replaced by another of its runtime until the time is over, and then all end. With
 * 0 seconds each is run once. What must hold is checked here and makes the exit status 1 with a line each: every program has its own right
 * result or the end it was written for; none of a runtime waits for more of the others than its share; descriptors and the host's memory
 * stay within bounds; and when all is closed, no process and no descriptor is left.
 *
 *   load.c      the crowd: what is started when, and the judging    tools.c     what programs call
 *   programs.c  the files of tests/cases/load                       report.c    samples, bounds and the report
 */
#ifndef CM_LOAD_LOAD_H
#define CM_LOAD_LOAD_H

#include "base/base.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"
#include "json/json.h"

#define MAX_RUNTIMES 8
#define MAX_SAMPLES  4096

/** ---- programs.c ---- */

struct program {
    char *name, *code;
    char *result; /* of a good one: JSON with __N__; NULL: it is hostile */
    char *ends;   /* of a hostile one: "a|b" */
};
struct programs {
    struct program *all;
    size_t n_good, n; /* the good ones come first */
};
/** The files of a folder; without `memory` those that need a memory limit are left out. Ends the process when they are not as they should be. */
void programs_read(struct programs *p, const char *folder, bool memory);
void programs_free(struct programs *p);
/** A copy of text with n in the place of each __N__; owned by the caller. */
char *programs_fill(const char *text, uint64_t n);
/** Whether `name` is one of the names in "a|b". */
bool programs_may_end(const char *ends, const char *name);

/** ---- the crowd ---- */

struct crowd;

/** One place in the crowd, taken by one program after another. */
struct job {
    struct party *party;
    const struct program *program; /* NULL: the place is free */
    uint64_t n;                    /* of the program that has it */
    uint64_t n_had;                /* programs that had it */
    cm_exec *exec;
    char id[64]; /* of the execution, when it has paused */
    bool paused; /* and is to be approved */
    bool begun;
    double from_ms;     /* when it was accepted */
    uint64_t from_turn; /* how many had begun by then */
};

/** One runtime, and the programs it has under way at once. */
struct party {
    struct crowd *crowd;
    char name[32];
    uint32_t size;
    cm_runtime *rt;
    cm_connector *svc;
    cm_catalog *catalog;
    uint64_t started, good, hostile, approved;
    double *waits_ms; /* from being accepted to the first call, of good ones */
    double *waits_turns;
    size_t n_waits;
};

struct sample {
    double at_s;
    uint64_t rss_kb, fds, workers, good;
};

struct crowd {
    cm_loop *loop;
    cm_sandbox *sandbox;
    cm_store *store;
    struct programs programs;
    struct party parties[MAX_RUNTIMES];
    size_t n_parties;
    struct job *jobs;
    size_t n_jobs, under_way;
    size_t next_good, next_hostile;
    uint64_t next_n;
    uint64_t turn; /* programs that have begun */
    struct cm_limits limits;
    bool over;
    double start_ms, accepted_ms, end_ms,
        all_ms; /* accepted: all of the first; end: no new ones from here; all: the last has ended */
    struct sample samples[MAX_SAMPLES];
    size_t n_samples;
    uint64_t fds_before;
    uint64_t wrong; /* what did not hold */
    bool bounded;   /* memory is looked at: not where a sanitizer keeps what was freed */
};

/** One more thing that does not hold; the first of them are printed. */
void load_wrong(struct crowd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void load_fail(const char *what, const char *why);
double load_now_ms(void);

/** ---- tools.c ---- */

/** `svc` of a runtime. */
cm_connector *tools_make(struct party *p);

/** ---- report.c ---- */

void report_sample(struct crowd *c);
/** What the samples and waits must keep to. */
void report_check(struct crowd *c);
void report_text(struct crowd *c);
void report_json(struct crowd *c);
uint64_t report_count_fds(void);
/** Processes below this one, those that lost their parent included. */
uint64_t report_count_processes(void);

#endif
