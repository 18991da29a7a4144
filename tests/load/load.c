/** The crowd: who is started when, and whether what it came to is right. */
#include "load.h"

#include "../../bench/settings.h"
#include "wire/control.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define TOLD_MAX 20 /* lines about what does not hold */

_Noreturn void load_fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "load: %s: %s\n", what, why);
    exit(2);
}

void load_wrong(struct crowd *c, const char *fmt, ...)
{
    va_list ap;

    if (c->wrong++ >= TOLD_MAX)
        return;
    va_start(ap, fmt);
    (void)fprintf(stderr, "load: ");
    (void)vfprintf(stderr, fmt, ap);
    (void)fprintf(stderr, "\n");
    va_end(ap);
}

double load_now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- judging */

/** The code of the outcome's error, or its name where it has none; "completed" without error. */
static const char *end_of(yyjson_val *outcome)
{
    yyjson_val *error = cm_json_get(outcome, "error");
    const char *code = cm_json_get_z(error, "code"), *name = cm_json_get_z(error, "name");

    return code ? code : name ? name : "completed";
}

static void judge(struct job *j, enum cm_exec_state state, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf result = CM_BUF_INIT(1u << 22);
    struct crowd *c = j->party->crowd;

    if (cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) != CM_OK) {
        load_wrong(c, "%s %" PRIu64 ": no outcome: %.*s", j->program->name, j->n, CM_STR_ARG(json));
        return;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (j->program->ends) {
        if (!programs_may_end(j->program->ends, end_of(root)))
            load_wrong(c, "%s %" PRIu64 ": ended with %s, not %s: %.*s", j->program->name, j->n, end_of(root),
                       j->program->ends, CM_STR_ARG(json));
        j->party->hostile++;
        return;
    }
    cm_autofree char *expected = programs_fill(j->program->result, j->n);
    if (cm_json_get(root, "result"))
        cm_json_write(&result, cm_json_get(root, "result"));
    if (state != CM_EXEC_COMPLETED || !cm_str_eq_z(cm_buf_str(&result), expected))
        load_wrong(c, "%s %" PRIu64 ": expected %s, came to %.*s", j->program->name, j->n, expected,
                   CM_STR_ARG(json));
    j->party->good++;
}

static void on_outcome(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct job *j = user;

    if (state == CM_EXEC_PAUSED && json.ptr && !j->paused) {
        (void)snprintf(j->id, sizeof j->id, "%s", cm_exec_id(j->exec));
        j->paused = true;
        return;
    }
    if (json.ptr)
        judge(j, state, json);
    else
        load_wrong(j->party->crowd, "%s %" PRIu64 ": no outcome: %s", j->program->name, j->n,
                   err ? err->message : "");
    j->program = NULL;
    j->party->crowd->under_way--;
}

/* ---- the crowd */

/** Every tenth is hostile; the programs of each kind take turns. */
static const struct program *choose(struct crowd *c, uint64_t n)
{
    const struct programs *p = &c->programs;

    return n % 10 == 9 ? &p->all[p->n_good + c->next_hostile++ % (p->n - p->n_good)]
                       : &p->all[c->next_good++ % p->n_good];
}

static void start(struct crowd *c, struct job *j)
{
    const struct program *p = choose(c, c->next_n++);
    struct cm_err err = {0};

    j->program = p;
    j->n = ++j->n_had * c->n_jobs + (uint64_t)(j - c->jobs); /* its place can be told from it */
    j->paused = j->begun = false;
    j->from_ms = load_now_ms();
    j->from_turn = c->turn;
    cm_autofree char *code = programs_fill(p->code, j->n);
    const struct cm_exec_spec spec = {.code = cm_str_of(code), .limits = c->limits};
    if (cm_exec_start(j->party->rt, &spec, on_outcome, j, &j->exec, &err) != CM_OK)
        load_fail(p->name, err.message);
    c->under_way++;
    j->party->started++;
}

static void approve(struct job *j)
{
    const struct cm_decide d = {.id = j->id, .by = "the load"};
    struct cm_err err = {0};

    j->paused = false;
    j->party->approved++;
    if (cm_runtime_approve(j->party->rt, &d, on_outcome, j, &j->exec, &err) == CM_OK)
        return;
    load_wrong(j->party->crowd, "%s %" PRIu64 ": approve: %s", j->program->name, j->n, err.message);
    j->program = NULL;
    j->party->crowd->under_way--;
}

/** What the last turn of the loop has left to do. */
static void look_around(struct crowd *c)
{
    for (size_t i = 0; i < c->n_jobs; i++) {
        struct job *j = &c->jobs[i];

        if (j->program && j->paused)
            approve(j);
        else if (!j->program && !c->over)
            start(c, j);
    }
}

static void run(struct crowd *c, double seconds)
{
    double next_sample = 0;

    c->start_ms = load_now_ms();
    look_around(c);
    c->accepted_ms = load_now_ms();
    c->over = seconds == 0;
    while (c->under_way || !c->over) {
        double now = load_now_ms();

        if (!c->over && now >= c->start_ms + seconds * 1000) {
            c->over = true;
            c->end_ms = now;
        }
        if (now >= next_sample) {
            report_sample(c);
            next_sample = now + 1000;
        }
        if (!cm_loop_once(c->loop))
            load_fail("loop", "programs are under way, and nothing is left to wait for");
        look_around(c);
    }
    c->all_ms = load_now_ms();
    if (c->end_ms == 0)
        c->end_ms = c->all_ms;
    report_sample(c);
}

/* ---- opening and closing */

static void open_party(struct party *p)
{
    struct crowd *c = p->crowd;
    struct cm_err err = {0};

    p->svc = tools_make(p);
    p->catalog = cm_catalog_new(&p->svc, 1);
    const struct cm_runtime_opts opts = {
        .loop = c->loop,
        .store = c->store,
        .sandbox = c->sandbox,
        .catalog = p->catalog,
        .connectors = &p->svc,
        .n_connectors = 1,
        .limits = c->limits,
        .name = p->name,
        .grace_ms = 30000,
    };
    if (cm_runtime_open(&opts, &p->rt, &err) != CM_OK)
        load_fail(p->name, err.message);
}

static void close_party(struct party *p)
{
    cm_runtime_close(p->rt);
    cm_catalog_free(p->catalog);
    cm_connector_free(p->svc);
    free(p->waits_ms);
    free(p->waits_turns);
}

/** Wait until the sandbox has said what holds. */
static uint64_t await_layers(struct crowd *c)
{
    uint64_t layers = 0;
    struct cm_err err = {0};

    while (cm_sandbox_layers(c->sandbox, &layers, &err) != CM_OK)
        if (!cm_loop_once(c->loop))
            load_fail("sandbox", err.message);
    return layers;
}

static void open_crowd(struct crowd *c, const char *where, const char *folder)
{
    const struct cm_sandbox_opts opts = {0}; /* as many workers as there are by default */
    struct cm_err err = {0};

    /* The loop's library keeps two descriptors from its first loop on. */
    if (cm_loop_new(&c->loop, &err) != CM_OK)
        load_fail("open", err.message);
    cm_loop_free(c->loop);
    c->fds_before = report_count_fds();
    if (cm_loop_new(&c->loop, &err) != CM_OK || cm_sandbox_open(c->loop, &opts, &c->sandbox, &err) != CM_OK ||
        cm_store_open(where, &c->store, &err) != CM_OK)
        load_fail("open", err.message);
    bool memory = (await_layers(c) & (UINT64_C(1) << CM_LAYER_MEMORY)) != 0;
    c->bounded = memory;
    programs_read(&c->programs, folder, memory);
    for (size_t i = 0; i < c->n_parties; i++) {
        c->parties[i].crowd = c;
        open_party(&c->parties[i]);
    }
    c->jobs = cm_calloc(c->n_jobs, sizeof *c->jobs);
    for (size_t i = 0, k = 0; i < c->n_parties; i++)
        for (uint32_t m = 0; m < c->parties[i].size; m++)
            c->jobs[k++].party = &c->parties[i];
}

static void close_crowd(struct crowd *c)
{
    for (size_t i = 0; i < c->n_parties; i++)
        close_party(&c->parties[i]);
    cm_sandbox_close(c->sandbox);
    cm_store_close(c->store);
    cm_loop_free(c->loop);
    programs_free(&c->programs);
    free(c->jobs);
    /* What has ended and was left to us is not there any more. */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    uint64_t left = report_count_processes(), fds = report_count_fds();
    if (left)
        load_wrong(c, "%" PRIu64 " processes are left", left);
    if (fds != c->fds_before)
        load_wrong(c, "%" PRIu64 " descriptors are open, %" PRIu64 " were at the start", fds, c->fds_before);
}

/* ---- what is asked */

struct settings {
    uint32_t seconds, cpu_ms, memory_mb, json;
    const char *store, *programs, *runtimes;
};

static const struct setting rows[] = {
    {"seconds", offsetof(struct settings, seconds), false,
     "how long new programs come; 0: each place runs one"},
    {"cpuMs", offsetof(struct settings, cpu_ms), false, "limit of each program"},
    {"memoryMb", offsetof(struct settings, memory_mb), false, "limit of each program"},
    {"json", offsetof(struct settings, json), false, "1: the report as JSON"},
    {"store", offsetof(struct settings, store), true, "as in the configuration"},
    {"programs", offsetof(struct settings, programs), true, "their folder"},
    {"runtimes", offsetof(struct settings, runtimes), true,
     "how many programs each has under way: 700,250,45,5"},
};

static _Noreturn void usage(const char *wrong)
{
    (void)fprintf(stderr, "load: %s\nusage: load [SECONDS] [KEY=VALUE…]\n", wrong);
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++)
        (void)fprintf(stderr, "  %-10s %s\n", rows[i].key, rows[i].what);
    exit(2);
}

static void set(struct settings *s, struct cm_str key, const char *value)
{
    struct cm_err err = {0};

    if (setting_set(rows, CM_ARRAY_LEN(rows), s, key, value, &err) != CM_OK)
        usage(err.message);
}

/** "700,250": runtimes of these sizes. */
static void read_sizes(struct crowd *c, const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");
        struct party *p = &c->parties[c->n_parties++];
        struct cm_err err = {0};

        if (c->n_parties > MAX_RUNTIMES || cm_parse_u32(cm_str_mk(at, len), &p->size, &err) != CM_OK ||
            p->size == 0 || p->size > 1000)
            usage("runtimes: expected up to 8 numbers from 1 to 1000, as in 700,250,45,5");
        (void)snprintf(p->name, sizeof p->name, "runtime-of-%u", p->size);
        c->n_jobs += p->size;
        at += len + (at[len] == ',');
    }
    if (c->n_parties == 0)
        usage("runtimes: none");
}

int main(int argc, char **argv)
{
    struct settings s = {.seconds = 60,
                         .cpu_ms = 500,
                         .memory_mb = 64,
                         .store = "memory:",
                         .programs = "tests/cases/load",
                         .runtimes = "700,250,45,5"};
    struct crowd *c = cm_new(struct crowd);

    for (int i = 1; i < argc; i++) {
        const char *equal = strchr(argv[i], '=');

        set(&s, equal ? cm_str_mk(argv[i], (size_t)(equal - argv[i])) : CM_STR("seconds"),
            equal ? equal + 1 : argv[i]);
    }
    read_sizes(c, s.runtimes);
    c->limits = CM_LIMITS_DEFAULT;
    c->limits.cpu_ms = s.cpu_ms;
    c->limits.memory_mb = s.memory_mb;
    /* Whoever loses its parent becomes a child of ours, and is seen at the end. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        load_fail("prctl", "become the one who inherits processes");
    open_crowd(c, s.store, s.programs);
    run(c, s.seconds);
    report_check(c);
    (s.json ? report_json : report_text)(c);
    close_crowd(c);
    bool right = c->wrong == 0;
    if (!right)
        (void)fprintf(stderr, "load: %" PRIu64 " things do not hold\n", c->wrong);
    free(c);
    return right ? 0 : 1;
}
