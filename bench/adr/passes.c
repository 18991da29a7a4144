/*
 * The tables of ADR 0 and ADR 7: what one small program costs, normalised, run and disposed of, with a fresh realm, a
 * fresh VM or a fresh process for each pass, and what collecting its garbage costs. CPU time, page faults, and the memory
 * that is a forked process's own, medians. Links the project's own engine.
 */
#include "base/base.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS 60
#define EACH 10 /* passes between two collections */

struct sample {
    double ms;
    long faults;
    long own_kb;
};

static void on_call(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                    struct cm_value args, struct cm_call_place at)
{
    (void)user, (void)id, (void)kind, (void)connector, (void)method, (void)args, (void)at;
}

static void on_step_end(void *user, uint32_t id, bool failed, struct cm_value value)
{
    (void)user, (void)id, (void)failed, (void)value;
}

static void on_log(void *user, unsigned level, struct cm_str text)
{
    (void)user, (void)level, (void)text;
}

static const struct cm_realm_host host = {.call = on_call, .step_end = on_step_end, .log = on_log};

static double cpu_ms(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static long own_kb(void)
{
    static const char name[] = "Private_Dirty:";
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    long kb = 0;

    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    }
    if (f)
        (void)fclose(f);
    return kb;
}

static cm_engine *new_engine(void)
{
    cm_engine *e = NULL;
    struct cm_err err = {0};

    if (cm_engine_new(&(struct cm_engine_opts){0}, &e, &err) != CM_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    return e;
}

static void run_pass(cm_engine *e)
{
    static unsigned n;
    cm_realm *r = NULL;
    struct cm_err err = {0};
    /* Another text each time: one that comes again is not read again. */
    cm_autofree char *source =
        cm_asprintf("const xs = [1, 2, %u].map(x => x * 2); xs.reduce((a, b) => a + b, 0)", n++);
    const struct cm_realm_opts opts = {
        .source = cm_str_of(source),
        .bind_json = CM_STR("{\"connectors\":[{\"name\":\"demo\",\"methods\":[\"add\"]}]}"),
        .now_ms = 1,
        .host = &host,
    };

    if (cm_realm_start(e, &opts, &r, &err) != CM_OK || cm_realm_result(r)->failed) {
        (void)fprintf(stderr, "the pass failed: %s\n", err.message);
        exit(1);
    }
    cm_realm_free(r);
}

static long faults(int who)
{
    struct rusage ru = {0};

    (void)getrusage(who, &ru);
    return ru.ru_minflt + ru.ru_majflt;
}

static void in_realm(cm_engine *warm, struct sample *s)
{
    long before = faults(RUSAGE_SELF);
    double t = cpu_ms();

    run_pass(warm);
    s->ms = cpu_ms() - t;
    s->faults = faults(RUSAGE_SELF) - before;
}

/* As a worker does between two passes: garbage is collected and the next realm made while nobody waits. */
static void in_prepared_realm(cm_engine *warm, struct sample *s)
{
    cm_engine_collect(warm);
    cm_engine_prepare_realm(warm);
    in_realm(warm, s);
}

static void in_vm(cm_engine *warm, struct sample *s)
{
    long before = faults(RUSAGE_SELF);
    double t = cpu_ms();

    (void)warm;
    cm_engine *e = new_engine();
    run_pass(e);
    cm_engine_free(e);
    s->ms = cpu_ms() - t;
    s->faults = faults(RUSAGE_SELF) - before;
}

static void fork_pass(cm_engine *e, struct sample *s)
{
    struct sample *child =
        mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = child == MAP_FAILED ? -1 : fork();

    if (pid == 0) {
        run_pass(e ? e : new_engine());
        *child = (struct sample){cpu_ms(), faults(RUSAGE_SELF), own_kb()};
        _exit(0);
    }
    if (pid < 0)
        exit(1);
    (void)waitpid(pid, NULL, 0);
    *s = *child;
    (void)munmap(child, sizeof(*child));
}

/* What the garbage of ten passes costs, for each of them. */
static void collection(cm_engine *warm, struct sample *s, void (*collect)(cm_engine *e))
{
    for (int i = 0; i < EACH; i++)
        run_pass(warm);
    double t = cpu_ms();
    collect(warm);
    s->ms = (cpu_ms() - t) / EACH;
}

static void all_collected(cm_engine *warm, struct sample *s)
{
    collection(warm, s, cm_engine_collect);
}

static void young_collected(cm_engine *warm, struct sample *s)
{
    collection(warm, s, cm_engine_collect_young);
}

static void in_forked(cm_engine *warm, struct sample *s)
{
    fork_pass(warm, s);
}

static void in_process(cm_engine *warm, struct sample *s)
{
    (void)warm;
    fork_pass(NULL, s);
}

static int by_ms(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->ms, y = ((const struct sample *)b)->ms;

    return (x > y) - (x < y);
}

static void measure(const char *name, void (*fn)(cm_engine *, struct sample *), cm_engine *warm)
{
    struct sample s[RUNS] = {0};

    for (int i = 0; i < RUNS; i++)
        fn(warm, &s[i]);
    qsort(s, RUNS, sizeof *s, by_ms);
    printf("%-46s %8.3f ms  %6ld page faults  %6ld KB\n", name, s[RUNS / 2].ms, s[RUNS / 2].faults,
           s[RUNS / 2].own_kb);
}

int main(void)
{
    struct cm_err err = {0};

    cm_engine_prepare_process(false);
    /* Before any VM is warm in this process, so that a child makes its own from nothing. */
    measure("process, VM made in the child", in_process, NULL);
    cm_engine *warm = new_engine();
    if (cm_engine_warm(warm, &err) != CM_OK)
        return 1;
    for (int i = 0; i < 300; i++)
        run_pass(warm);
    measure("process forked from a warm VM", in_forked, warm);
    measure("VM in a warm process", in_vm, warm);
    measure("realm in a warm worker", in_realm, warm);
    measure("the same, made while the worker was idle", in_prepared_realm, warm);
    measure("garbage of a pass, all collected", all_collected, warm);
    measure("garbage of a pass, the young collected", young_collected, warm);
    cm_engine_free(warm);
    return 0;
}
