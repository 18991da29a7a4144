/**
 * The two ways to ask for a workload.
 *
 *   driver                        lines of JSON: {"w": "W2", "runs": 50, "opts": {"log": "off"}} on standard input
 *   driver W2 1000 [log=off …]    once, and the figures as text: for a profiler
 *
 * The first line of output is {"hello": {"name", "version"}}; each request is answered by one line: {"ms": […]}, {"perSecond": …},
 * {"figures": {name: number}} or {"skip": "reason"}; beside it may stand "cpu": {"host", "sandbox"}, the milliseconds of CPU time of a
 * run in the mean, and a note beside it says what a figure is of. opts are the rows of `rows` below.
 */
#include "driver.h"

#include "settings.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- what workloads share */

_Noreturn void bench_fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "driver: %.500s: %.2000s\n", what, why);
    exit(1);
}

double bench_now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void bench_sample(struct answer *a, double ms)
{
    if (a->n_ms % 1024 == 0)
        a->ms = cm_realloc(a->ms, (a->n_ms + 1024) * sizeof *a->ms);
    a->ms[a->n_ms++] = ms;
}

void bench_figure(struct answer *a, const char *name, double value)
{
    if (a->n_figures == MAX_FIGURES)
        bench_fail(name, "too many figures");
    a->figures[a->n_figures].name = name;
    a->figures[a->n_figures++].value = value;
}

/** Of this process, and of the zygote with its workers. */
static void cpu_now(double *host, double *sandbox)
{
    pid_t pids[512];
    size_t n = procs_below(getpid(), pids, CM_ARRAY_LEN(pids));
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    *host = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
    *sandbox = 0;
    for (size_t i = 0; i < n; i++)
        *sandbox += procs_cpu_ms(pids[i]);
}

void bench_cpu_from(struct answer *a)
{
    cpu_now(&a->host_cpu_ms, &a->sandbox_cpu_ms);
}

void bench_cpu_of(struct answer *a, uint64_t n)
{
    double host, sandbox;

    cpu_now(&host, &sandbox);
    a->host_cpu_ms = n ? (host - a->host_cpu_ms) / (double)n : 0;
    a->sandbox_cpu_ms = n ? (sandbox - a->sandbox_cpu_ms) / (double)n : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quantile(double *samples, size_t n, double q)
{
    if (n == 0)
        return 0;
    qsort(samples, n, sizeof *samples, by_size);
    size_t rank = (size_t)ceil(q * (double)n);
    return samples[rank ? rank - 1 : 0];
}

/* ---- workloads and settings, by table */

static const struct {
    const char *name, *what;
    workload_fn *fn;
    uint32_t runs; /* unless the request says */
} workloads[] = {
    {"W1", "a fresh sandbox, 1 + 1, gone", w1_smallest, 200},
    {"W2", "one tool call", w2_one_call, 200},
    {"W3", "100 calls, one after the other", w3_calls_in_turn, 50},
    {"W4", "100 calls with Promise.all", w4_calls_at_once, 50},
    {"W5", "10 of the 10,000 rows of a result of 1 MB", w5_large_result, 20},
    {"W6", "compute; part=fib (fib(27)), sort (and JSON of 100,000 objects), loop (10 million additions)",
     w6_compute, 20},
    {"W7", "from the CPU limit to control; cpuMs=100, others=0", w7_cpu_limit, 20},
    {"W8", "memory bombs; memoryMb=64", w8_bombs, 1},
    {"W9", "memory of runs that wait; waiting=100", w9_memory, 1},
    {"W10", "runs per second; inFlight=1, ms=2000", w10_throughput, 1},
    {"W11", "the record; part=reads, effects, sync, pause, approve, approveReplay, replay (calls=100)",
     w11_durable, 20},
};

#define TEXT(key, member)                            \
    {                                                \
        key, offsetof(struct settings, member), true \
    }
#define NUMBER(key, member)                           \
    {                                                 \
        key, offsetof(struct settings, member), false \
    }
static const struct setting rows[] = {
    TEXT("log", log),
    TEXT("isolation", isolation),
    TEXT("part", part),
    TEXT("code", code),
    TEXT("bombs", bombs),
    NUMBER("runs", runs),
    NUMBER("first", first),
    NUMBER("effects", effects),
    NUMBER("pauseMs", pause_ms),
    NUMBER("inFlight", in_flight),
    NUMBER("ms", ms),
    NUMBER("waiting", waiting),
    NUMBER("calls", calls),
    NUMBER("cpuMs", cpu_ms),
    NUMBER("memoryMb", memory_mb),
    NUMBER("others", others),
    NUMBER("runsPerWorker", runs_per_worker),
};

static void set(struct settings *s, struct cm_str key, const char *value)
{
    struct cm_err err = {0};
    cm_autofree char *name = cm_memdup_z(key.ptr, key.len);

    if (setting_set(rows, CM_ARRAY_LEN(rows), s, key, value, &err) != CM_OK)
        bench_fail(name, err.message);
}

/** False: no workload of this name. */
static bool work(const char *name, struct settings *s, struct answer *a)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(workloads); i++) {
        if (!cm_z_eq(name, workloads[i].name))
            continue;
        if (s->runs == 0)
            s->runs = workloads[i].runs;
        workloads[i].fn(s, a);
        return true;
    }
    return false;
}

/* ---- lines of JSON */

static void print_json(const struct answer *a)
{
    const char *between = "";

    putchar('{');
    if (a->n_ms) {
        printf("\"ms\":[");
        for (size_t i = 0; i < a->n_ms; i++)
            printf("%s%.4f", i ? "," : "", a->ms[i]);
        printf("]");
        between = ",";
    }
    if (a->host_cpu_ms > 0) {
        printf("%s\"cpu\":{\"host\":%.4f,\"sandbox\":%.4f}", between, a->host_cpu_ms, a->sandbox_cpu_ms);
        between = ",";
    }
    if (a->per_second > 0) {
        printf("%s\"perSecond\":%.2f", between, a->per_second);
        between = ",";
    }
    if (a->n_figures) {
        printf("%s\"figures\":{", between);
        for (size_t i = 0; i < a->n_figures; i++)
            printf("%s\"%s\":%.4f", i ? "," : "", a->figures[i].name, a->figures[i].value);
        printf("}");
        between = ",";
    }
    if (a->note[0])
        printf("%s\"note\":\"%s\"", between, a->note);
    printf("}\n");
}

/** Numbers as the text that the command line would have. */
static void take_options(struct settings *s, yyjson_val *opts, char (*numbers)[16])
{
    yyjson_val *key, *v;
    size_t i, max;

    yyjson_obj_foreach(opts, i, max, key, v)
    {
        char *number = numbers[i % CM_ARRAY_LEN(rows)];

        if (yyjson_is_bool(v))
            (void)snprintf(number, sizeof *numbers, "%d", yyjson_get_bool(v));
        else if (yyjson_is_uint(v))
            (void)snprintf(number, sizeof *numbers, "%llu", (unsigned long long)yyjson_get_uint(v));
        set(s, cm_json_str(key), yyjson_is_str(v) ? yyjson_get_str(v) : number);
    }
}

static void serve_line(const char *line)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err = {0};
    struct settings s = {0};
    struct answer a = {0};
    char numbers[CM_ARRAY_LEN(rows)][16] = {{0}};

    if (cm_json_parse(cm_str_of(line), CM_JSON_STRICT, &doc, &err) != CM_OK)
        bench_fail(line, err.message);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *name = cm_json_get_z(root, "w");
    take_options(&s, cm_json_get(root, "opts"), numbers);
    if (yyjson_is_uint(cm_json_get(root, "runs")))
        s.runs = (uint32_t)yyjson_get_uint(cm_json_get(root, "runs"));
    if (name && work(name, &s, &a))
        print_json(&a);
    else
        printf("{\"skip\":\"no such workload here\"}\n");
    free(a.ms);
}

static void serve(void)
{
    char *line = NULL;
    size_t cap = 0;

    printf("{\"hello\":{\"name\":\"codemode\",\"version\":\"%s\"}}\n", cm_version());
    (void)fflush(stdout);
    while (getline(&line, &cap, stdin) > 0) {
        serve_line(line);
        (void)fflush(stdout);
    }
    free(line);
}

/* ---- the command line */

static void print_text(const char *name, struct answer *a)
{
    if (a->n_ms) {
        double median = bench_quantile(a->ms, a->n_ms, 0.5);

        printf("%s: median %.3f ms, p95 %.3f ms, least %.3f ms, most %.3f ms, %zu runs\n", name, median,
               bench_quantile(a->ms, a->n_ms, 0.95), a->ms[0], a->ms[a->n_ms - 1], a->n_ms);
    }
    if (a->host_cpu_ms > 0)
        printf("%s: CPU time of a run: host %.3f ms, sandbox %.3f ms\n", name, a->host_cpu_ms,
               a->sandbox_cpu_ms);
    if (a->per_second > 0)
        printf("%s: %.1f per second\n", name, a->per_second);
    for (size_t i = 0; i < a->n_figures; i++)
        printf("%s: %s %.3f\n", name, a->figures[i].name, a->figures[i].value);
    if (a->note[0])
        printf("%s: %s\n", name, a->note);
}

static _Noreturn void usage(void)
{
    (void)fprintf(stderr,
                  "usage: driver [WORKLOAD [RUNS] [KEY=VALUE…]]; without: lines of JSON on standard input\n");
    for (size_t i = 0; i < CM_ARRAY_LEN(workloads); i++)
        (void)fprintf(stderr, "  %-4s %s\n", workloads[i].name, workloads[i].what);
    (void)fprintf(stderr, "keys:");
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++)
        (void)fprintf(stderr, " %s", rows[i].key);
    (void)fprintf(stderr, "\n");
    exit(2);
}

static void command_line(char **argv)
{
    struct settings s = {0};
    struct answer a = {0};

    for (char **arg = argv + 1; *arg; arg++) {
        const char *equal = strchr(*arg, '=');

        if (equal)
            set(&s, cm_str_mk(*arg, (size_t)(equal - *arg)), equal + 1);
        else if (arg == argv + 1)
            set(&s, CM_STR("runs"), *arg);
        else
            usage();
    }
    if (!work(argv[0], &s, &a))
        usage();
    print_text(argv[0], &a);
    free(a.ms);
}

/** The worker program of the same build folder, unless the environment names one. */
static void find_worker(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        bench_fail("/proc/self/exe", "read it");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    cm_autofree char *path = cm_asprintf("%s/../src/worker/codemode-worker", self);
    if (setenv("CODEMODE_WORKER", path, 0) != 0)
        bench_fail("CODEMODE_WORKER", "set it");
}

int main(int argc, char **argv)
{
    find_worker();
    if (argc > 1)
        command_line(argv + 1);
    else
        serve();
    world_close_all();
    return 0;
}
