/** W7 to W9: what programs that go wrong cost, and what those cost that wait. */
#include "driver.h"

#include "base/fd.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** One run that is under way beside others. */
struct run {
    bool ended;
    double from, ms; /* of its start; what it took */
    char code[64];   /* of its error, or "" */
};

static void on_end(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct run *r = user;

    if (!take_outcome)
        bench_fail("run", err->message);
    const char *code = cm_outcome_error(take_outcome, "code");
    (void)snprintf(r->code, sizeof r->code, "%s", code ? code : "");
    cm_outcome_free(take_outcome);
    r->ms = bench_now_ms() - r->from;
    r->ended = true;
}

static void start(struct world *w, struct run *r, const char *code, const char *limits)
{
    const struct cm_run_options o = {.code = code, .limits_json = limits};
    struct cm_err err = {0};

    *r = (struct run){.from = bench_now_ms()};
    if (cm_run_start(w->ctx, &o, on_end, r, NULL, &err) != CM_OK)
        bench_fail("cm_run_start", err.message);
}

/* ---- W7 */

static const char other[] = "return (await bench.echo({ n: 1 })).n";

/** Runs of another program, one after the other, until `r` has ended (NULL: n of them). */
static void run_others(struct world *w, const struct run *r, unsigned n, struct answer *times)
{
    struct run o = {.ended = true};

    for (unsigned i = 0; r ? !r->ended : i < n; i++) {
        start(w, &o, other, NULL);
        while (!o.ended)
            (void)cm_wait(w->ctx);
        if (o.code[0])
            bench_fail("another run", o.code);
        bench_sample(times, o.ms);
    }
}

/** How long after its limit of CPU time a program that spins gives control back; with others=1 while other programs run. */
void w7_cpu_limit(const struct settings *s, struct answer *a)
{
    const struct world_kind kind = world_kind_of(s);
    struct world *w = world_get(&kind);
    uint32_t limit = s->cpu_ms ? s->cpu_ms : 100;
    cm_autofree char *limits = cm_asprintf("{\"cpuMs\":%u}", limit);
    struct answer alone = {0}, beside = {0};

    if (s->others)
        run_others(w, NULL, 200, &alone);
    for (uint32_t i = 0; i < s->runs; i++) {
        struct run r;

        world_idle(w, s->pause_ms ? s->pause_ms : 100);
        start(w, &r, "while (true) {}", limits);
        if (s->others)
            run_others(w, &r, 0, &beside);
        while (!r.ended)
            (void)cm_wait(w->ctx);
        if (strcmp(r.code, "cpu_limit") != 0)
            bench_fail("while (true) {}", r.code);
        bench_sample(a, r.ms - limit);
    }
    if (s->others) {
        bench_figure(a, "otherAlone", bench_quantile(alone.ms, alone.n_ms, 0.5));
        bench_figure(a, "otherBeside", bench_quantile(beside.ms, beside.n_ms, 0.5));
        bench_figure(a, "otherBesideP95", bench_quantile(beside.ms, beside.n_ms, 0.95));
    }
    (void)snprintf(a->note, sizeof a->note, "ms after a limit of %u ms of CPU time", limit);
    free(alone.ms);
    free(beside.ms);
}

/* ---- W8 */

#define MAX_WORKERS 64

/** Looks at the workers' memory all the time, since it is gone with them. */
struct watcher {
    pthread_t thread;
    atomic_bool over;
    pid_t pids[MAX_WORKERS];
    uint64_t before_kb[MAX_WORKERS];
    uint64_t most_kb[MAX_WORKERS];
    size_t n;
};

static void *watch(void *user)
{
    struct watcher *t = user;
    const struct timespec pause = {.tv_nsec = 500000};

    while (!atomic_load(&t->over)) {
        for (size_t i = 0; i < t->n; i++) {
            uint64_t kb = procs_most_rss_kb(t->pids[i]);

            if (kb > t->most_kb[i])
                t->most_kb[i] = kb;
        }
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/** What the run's worker had resident beside what it had before, at its most, less the limit; in MB. */
static double bomb_over_mb(struct world *w, const char *code, uint32_t limit_mb, char *end)
{
    cm_autofree char *limits = cm_asprintf("{\"memoryMb\":%u,\"cpuMs\":5000}", limit_mb);
    struct watcher t = {0};
    struct run r;
    uint64_t most = 0;

    world_idle(w, 150); /* a worker for the pool */
    t.n = procs_below(getpid(), t.pids, MAX_WORKERS);
    for (size_t i = 0; i < t.n; i++)
        t.before_kb[i] = procs_rss_kb(t.pids[i]);
    if (pthread_create(&t.thread, NULL, watch, &t) != 0)
        bench_fail("pthread_create", "no thread");
    start(w, &r, code, limits);
    while (!r.ended)
        (void)cm_wait(w->ctx);
    atomic_store(&t.over, true);
    (void)pthread_join(t.thread, NULL);
    for (size_t i = 0; i < t.n; i++)
        if (t.most_kb[i] > t.before_kb[i] && t.most_kb[i] - t.before_kb[i] > most)
            most = t.most_kb[i] - t.before_kb[i];
    memcpy(end, r.code, sizeof r.code);
    return (double)most / 1024 - limit_mb;
}

static int is_program(const struct dirent *d)
{
    size_t len = strlen(d->d_name);

    return len > 3 && cm_z_eq(d->d_name + len - 3, ".js");
}

static void bomb_of_file(struct world *w, const struct settings *s, const char *folder, const char *name,
                         struct answer *a, double *worst)
{
    cm_autofree char *path = cm_asprintf("%s/%s", folder, name), *code = NULL;
    struct cm_err err = {0};
    char end[64];

    if (cm_read_file(path, 1u << 20, &code, NULL, &err) != CM_OK)
        bench_fail(path, err.message);
    if (strstr(code, "svc")) /* a connector of the test of these files */
        return;
    double over = bomb_over_mb(w, code, s->memory_mb ? s->memory_mb : 64, end);
    bench_sample(a, over);
    if (a->n_ms == 1 || over > *worst) {
        *worst = over;
        (void)snprintf(a->note, sizeof a->note, "most over: %.150s, which ended with %s", name, end);
    }
}

/** Programs that fill memory: how far over the limit the worst of them came, and that the next program runs. */
void w8_bombs(const struct settings *s, struct answer *a)
{
    const struct world_kind kind = world_kind_of(s);
    struct world *w = world_get(&kind);
    const char *folder = s->bombs ? s->bombs : "tests/cases/bombs";
    struct answer overs = {0};
    struct dirent **names = NULL;
    double worst = 0;

    if (s->code) {
        char end[64];

        worst = bomb_over_mb(w, s->code, s->memory_mb ? s->memory_mb : 64, end);
        bench_sample(&overs, worst);
        (void)snprintf(a->note, sizeof a->note, "it ended with %s", end);
    } else {
        int n = scandir(folder, &names, is_program, alphasort);

        if (n < 0)
            bench_fail(folder, "no folder of programs; bombs=FOLDER names it");
        for (int i = 0; i < n; i++) {
            bomb_of_file(w, s, folder, names[i]->d_name, &overs, &worst);
            free(names[i]);
        }
        free(names);
        memcpy(a->note, overs.note, sizeof a->note);
    }
    (void)world_run(w, "1 + 1", "2");
    bench_figure(a, "limitMb", s->memory_mb ? s->memory_mb : 64);
    bench_figure(a, "bombs", (double)overs.n_ms);
    bench_figure(a, "overMb", worst);
    bench_figure(a, "died", 0); /* this process, which is still here to say so */
    free(overs.ms);
}

/* ---- W9 */

/** Memory of each run that waits on a call, as its share of what is resident, and of this process and the zygote. */
void w9_memory(const struct settings *s, struct answer *a)
{
    struct world_kind kind = world_kind_of(s);
    uint32_t n = s->waiting ? s->waiting : 100;
    cm_autofree struct run *runs = cm_calloc(n, sizeof *runs);
    pid_t zygote, workers[1024];
    double sum = 0;

    world_close_all();
    kind.max_workers = n;
    struct world *w = world_get(&kind);
    for (uint32_t i = 0; i < n; i++)
        start(w, &runs[i], "return await bench.hold({})", NULL);
    while (w->n_held < n)
        (void)cm_wait(w->ctx);
    world_idle(w, 300);
    if (procs_below(getpid(), &zygote, 1) != 1)
        bench_fail("zygote", "it is not there");
    size_t n_workers = procs_below(zygote, workers, CM_ARRAY_LEN(workers));
    for (size_t i = 0; i < n_workers; i++)
        sum += (double)procs_pss_kb(workers[i]) / 1024;
    bench_figure(a, "runs", n);
    bench_figure(a, "workers", (double)n_workers);
    bench_figure(a, "eachMb", sum / n);
    bench_figure(a, "hostMb", (double)procs_pss_kb(getpid()) / 1024);
    bench_figure(a, "zygoteMb", (double)procs_pss_kb(zygote) / 1024);
    (void)snprintf(a->note, sizeof a->note, "PSS; each: all workers by the runs that wait");
    world_release(w);
    for (uint32_t i = 0; i < n; i++)
        while (!runs[i].ended)
            (void)cm_wait(w->ctx);
    world_close_all();
}
