/**
 * What ten thousand programs leave behind, every tenth of them hostile: no descriptor, no process, no mount, no
 * namespace, and no memory to speak of. Everything is counted when nothing runs: at the start, in the middle with the
 * sandbox open, and after it is closed.
 */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/sanitize.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

#define N_RUNS    (CM_SANITIZED ? 1000u : 10000u)
#define N_WARM    200u
#define N_SLOTS   4u
#define N_PROCS   256u
#define GROWTH_KB 4096u

/** ---- the programs ---- */

static void kill_worker(struct run *r)
{
    assert_int_equal(kill((pid_t)r->pid, SIGKILL), 0);
}

static void cancel(struct run *r)
{
    cm_pass_stop(r->pass, CM_PASS_CANCELLED, "cancelled", "enough");
}

/** A kind of program, how many of it are among a hundred, and what it must end with. */
struct kind {
    unsigned share;
    const char *source;
    enum cm_pass_end_kind end;
    const char *code;
    void (*at_call)(struct run *r);
    void (*at_wait)(struct run *r);
    bool unanswered;
    uint32_t cpu_ms, memory_mb, deadline_ms, calls_in_flight, timers, frame_bytes; /* 0: the default */
};

static const struct kind kinds[] = {
    {.share = 25, .source = "return 6*7"},
    {.share = 5,
     .source = "setTimeout(() => {}, 1e6); return [await svc.x({}), 'x'.repeat(1 << 16)]",
     .at_wait = cancel,
     .unanswered = true,
     .end = CM_PASS_CANCELLED,
     .code = "cancelled"},
    {.share = 30, .source = "return (await svc.x({a: [1, 2, 3]})) + await svc.y({})"},
    {.share = 10,
     .source = "for (let i = 0; i < 5; i++) console.log(i, {i}); return codemode.step('s', () => 5)"},
    {.share = 10, .source = "throw new TypeError('no')", .end = CM_PASS_THREW, .code = ""},
    {.share = 10,
     .source =
         "return Array.from({length: 2000}, (_, i) => ({i, s: 'x' + i})).sort((a, b) => b.i - a.i)[0].i"},
    /* The hostile ones. */
    {.share = 2, .source = "for (;;);", .cpu_ms = 10, .end = CM_PASS_LIMIT, .code = "cpu_limit"},
    {.share = 1,
     .source = "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))",
     .memory_mb = 16,
     .end = CM_PASS_LIMIT,
     .code = "memory_limit"},
    {.share = 2,
     .source = "return svc.x({})",
     .at_call = kill_worker,
     .unanswered = true,
     .end = CM_PASS_CRASHED,
     .code = "crashed"},
    {.share = 1,
     .source = "return svc.x({})",
     .at_call = cancel,
     .unanswered = true,
     .end = CM_PASS_CANCELLED,
     .code = "cancelled"},
    {.share = 1,
     .source = "return svc.x({})",
     .unanswered = true,
     .deadline_ms = 10,
     .end = CM_PASS_LIMIT,
     .code = "deadline"},
    {.share = 1,
     .source = "return Promise.all([svc.a({}), svc.b({}), svc.c({})])",
     .unanswered = true,
     .calls_in_flight = 2,
     .end = CM_PASS_LIMIT,
     .code = "calls_in_flight_limit"},
    {.share = 1,
     .source = "for (let i = 0; i < 9; i++) setTimeout(() => 0, 1000); return new Promise(() => 0)",
     .unanswered = true,
     .timers = 4,
     .end = CM_PASS_LIMIT,
     .code = "timers_limit"},
    {.share = 1,
     .source = "return svc.x('x'.repeat(1 << 16))",
     .frame_bytes = 4096,
     .end = CM_PASS_LIMIT,
     .code = "frame_limit"},
};

/** Spread over each hundred, so that a hostile one is seldom next to another. */
static const struct kind *kind_of(unsigned i)
{
    unsigned at = i * 37 % 100;

    for (size_t k = 0; k < CM_ARRAY_LEN(kinds); k++) {
        if (at < kinds[k].share)
            return &kinds[k];
        at -= kinds[k].share;
    }
    fail_msg("the shares do not make a hundred");
    return NULL;
}

static void set(uint32_t *limit, uint32_t to)
{
    *limit = to ? to : *limit;
}

static void start_kind(const struct world *w, struct run *r, const struct kind *k, const char *runtime)
{
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    set(&limits.cpu_ms, k->cpu_ms);
    set(&limits.memory_mb, k->memory_mb);
    set(&limits.deadline_ms, k->deadline_ms);
    set(&limits.calls_in_flight, k->calls_in_flight);
    set(&limits.timers, k->timers);
    limits.frame_bytes = k->frame_bytes ? k->frame_bytes : limits.frame_bytes;
    *r =
        (struct run){.loop = w->loop, .answer = !k->unanswered, .at_call = k->at_call, .at_wait = k->at_wait};
    start(w->sb, r, runtime, k->source, &limits);
}

/** Without the memory limit (a sanitizer build) that program meets what there is, in its own time. */
static bool is_left_out(const struct kind *k, bool memory_limit)
{
    return k->memory_mb && !memory_limit;
}

static void check_end(const struct run *r, const struct kind *k)
{
    /* A deadline of 10 ms may pass before a worker is free: that is its reason all the same. */
    if (r->kind != k->end || (k->code && !cm_z_eq(r->code, k->code)))
        fail_msg("%s: kind %d code '%s' message '%s' value '%s' meta '%s'", k->source, (int)r->kind, r->code,
                 r->message, r->value, r->meta);
}

/** ---- counting ---- */

static unsigned count_entries(const char *path)
{
    DIR *d = opendir(path);
    unsigned n = 0;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += e->d_name[0] != '.';
    if (d)
        (void)closedir(d);
    return n;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    int parent = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        (void)fclose(f);
    text[n] = '\0';
    const char *close = strrchr(text, ')');
    return close && sscanf(close, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/** This process, and all below it. */
static size_t tree(pid_t pids[N_PROCS])
{
    size_t n = 1;

    pids[0] = getpid();
    for (size_t i = 0; i < n; i++) {
        DIR *d = opendir("/proc");
        assert_non_null(d);
        for (struct dirent *e = readdir(d); e; e = readdir(d)) {
            pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
            if (pid > 0 && parent_of(pid) == pids[i]) {
                assert_true(n < N_PROCS);
                pids[n++] = pid;
            }
        }
        (void)closedir(d);
    }
    return n;
}

/** Namespaces in which any process of the tree is. Not every one may be looked at by everyone. */
static size_t count_namespaces(const pid_t *pids, size_t n_pids)
{
    static const char *const types[] = {"user", "pid", "net", "ipc", "mnt", "uts"};
    char seen[N_PROCS][64];
    size_t n = 0;

    for (size_t i = 0; i < n_pids * CM_ARRAY_LEN(types); i++) {
        char path[64];
        char link[64] = "";
        bool known = false;
        (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pids[i / CM_ARRAY_LEN(types)],
                       types[i % CM_ARRAY_LEN(types)]);
        if (readlink(path, link, sizeof(link) - 1) < 0)
            continue;
        for (size_t k = 0; k < n; k++)
            known |= strcmp(seen[k], link) == 0;
        if (known)
            continue;
        assert_true(n < N_PROCS);
        memcpy(seen[n++], link, sizeof(link));
    }
    return n;
}

/** Mounts like the zygote's empty root; others come and go for reasons of their own. */
static unsigned count_mounts(void)
{
    char line[4096];
    unsigned n = 0;
    FILE *f = fopen("/proc/self/mountinfo", "re");

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        n += strstr(line, "nr_inodes=2") != NULL;
    (void)fclose(f);
    return n;
}

static uint64_t rss_kb(pid_t pid)
{
    char path[64];
    unsigned long pages = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
    (void)fclose(f);
    return pages * ((uint64_t)sysconf(_SC_PAGESIZE) >> 10);
}

struct counts {
    unsigned fds, mounts, zygote_fds;
    size_t workers, processes, namespaces;
    uint64_t rss_kb, zygote_rss_kb;
};

static bool is_settled(const struct world *w)
{
    size_t n = 0;
    size_t unbound = 0;

    for (const struct cm_worker *at = w->sb->workers; at; at = at->next) {
        if (at->state != CM_WORKER_READY)
            return false;
        n++;
        unbound += !at->lane;
    }
    return (unbound == w->sb->opts.pool_size || n == w->sb->opts.max_workers) && !w->sb->ended;
}

static struct counts take_counts(const struct world *w)
{
    pid_t pids[N_PROCS];
    struct counts c = {.mounts = count_mounts()};

    for (const struct cm_worker *at = w->sb ? w->sb->workers : NULL; at; at = at->next)
        c.workers++;
    c.processes = tree(pids);
    c.namespaces = count_namespaces(pids, c.processes);
    c.fds = count_entries("/proc/self/fd");
    c.rss_kb = rss_kb(getpid());
    if (w->sb) {
        char path[64];
        (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)w->sb->zygote.pid);
        c.zygote_fds = count_entries(path); /* 0 where it is closed to us */
        c.zygote_rss_kb = rss_kb(w->sb->zygote.pid);
    }
    return c;
}

static struct counts settle(const struct world *w, const char *when)
{
    while (!is_settled(w))
        assert_true(cm_loop_once(w->loop));
    struct counts c = take_counts(w);
    print_message(
        "# %s: %u descriptors, %u of the zygote, %zu workers, %zu processes, %zu namespaces, %u mounts, "
        "%llu kB, %llu kB of the zygote\n",
        when, c.fds, c.zygote_fds, c.workers, c.processes, c.namespaces, c.mounts,
        (unsigned long long)c.rss_kb, (unsigned long long)c.zygote_rss_kb);
    /* All there is, is us, the zygote and the workers that the sandbox knows; each worker is a socket and a pidfd. */
    assert_int_equal(c.processes, c.workers + 2);
    return c;
}

/** ---- the test ---- */

/** The workers of a zygote that is gone are ours. All have ended, so that none needs to be waited for. */
static void reap_the_dead(void)
{
    pid_t pid;

    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0);
    assert_int_equal(pid, -1); /* 0: one lives */
    assert_int_equal(errno, ECHILD);
}

static unsigned run_all(const struct world *w, unsigned from, unsigned to, bool memory_limit)
{
    static const char *const runtimes[N_SLOTS] = {"one", "two", "one", "three"};
    const struct kind *what[N_SLOTS] = {NULL};
    struct run runs[N_SLOTS];
    unsigned hostile = 0;
    unsigned left = 0;

    for (unsigned i = from; i < to || left > 0;) {
        for (size_t s = 0; s < N_SLOTS; s++) {
            if (what[s] && runs[s].ended) {
                cm_buf_done(&runs[s].logs);
                check_end(&runs[s], what[s]);
                what[s] = NULL;
                left--;
            }
            if (what[s] || i >= to)
                continue;
            const struct kind *k = kind_of(i++);
            if (is_left_out(k, memory_limit))
                k = &kinds[0];
            hostile += k->end != CM_PASS_COMPLETED && k->end != CM_PASS_THREW;
            start_kind(w, &runs[s], k, runtimes[s]);
            what[s] = k;
            left++;
        }
        if (left > 0)
            assert_true(cm_loop_once(w->loop));
    }
    return hostile;
}

static bool has_memory_limit(const struct world *w)
{
    uint64_t layers = 0;

    while (cm_sandbox_layers(w->sb, &layers, NULL) != CM_OK)
        assert_true(cm_loop_once(w->loop));
    return (layers & (UINT64_C(1) << CM_LAYER_MEMORY)) != 0;
}

static void ten_thousand_programs_leave_nothing_behind(void **state)
{
    (void)state;
    /* What a dead zygote leaves is ours to see. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    struct world first = open_world(NULL);
    expect(first.loop, first.sb, "return 1", "1");
    close_world(&first); /* the first loop of a process leaves what all loops share */
    reap_the_dead();
    struct counts before = take_counts(&(struct world){0});

    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 6, .pool_size = 2});
    bool memory_limit = has_memory_limit(&w);
    int64_t begun = cm_mono_ms();
    (void)run_all(&w, 0, N_WARM, memory_limit);
    struct counts early = settle(&w, "after the first");
    unsigned hostile = run_all(&w, N_WARM, N_RUNS, memory_limit);
    struct counts late = settle(&w, "after the last");
    print_message("# %u programs, %u of the later ones hostile, %llu processes, in %lld ms\n", N_RUNS,
                  hostile, (unsigned long long)w.sb->next_serial, (long long)(cm_mono_ms() - begun));
    assert_true(hostile * 10 >= (N_RUNS - N_WARM) * 9 / 10);
    assert_int_equal(late.fds - 2 * late.workers, early.fds - 2 * early.workers);
    assert_int_equal(late.zygote_fds, early.zygote_fds);
    assert_int_equal(late.mounts, before.mounts);
    if (!CM_SANITIZED) { /* what was freed stays with a sanitizer for a while */
        assert_true(late.rss_kb < early.rss_kb + GROWTH_KB);
        assert_true(late.zygote_rss_kb < early.zygote_rss_kb + GROWTH_KB);
    }
    close_world(&w);
    reap_the_dead();
    struct counts after = take_counts(&(struct world){0});
    assert_int_equal(after.processes, 1);
    assert_int_equal(after.fds, before.fds);
    assert_int_equal(after.mounts, before.mounts);
    assert_int_equal(after.namespaces, before.namespaces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_programs_leave_nothing_behind),
    };

    return cmocka_run_group_tests_name("leaks", tests, NULL, NULL);
}
