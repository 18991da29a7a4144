/** Running a schedule to its end, each of its processes a fork; and each scenario with everything that a plan meets. To be included by one test file. */
#ifndef CM_TESTS_SCHED_RUN_H
#define CM_TESTS_SCHED_RUN_H

#include "base/sanitize.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sched_memory.h"
#include "sched_people.h"

#define ROLLBACKS_MAX 3  /* by one process: as usual, after a look at the world, and once more */
#define REPAIRED      79 /* a write failed, and the next run worked: another process goes on */

static const char config[] = "{\"codemode\":{\"policy\":[{\"match\":\"world.gone\",\"action\":\"deny\"}]}}";

/** How a schedule goes wrong, and how its processes are set up. */
struct plan {
    int64_t crash_at, crash_again_at, fail_io_at, fail_memory_at, fail_alloc_at;
    int fail_errno;
    bool fail_once, power;
    bool keep; /* a paused run's worker is kept, and goes on in place */
    bool look; /* at the database as a whole, when all is done */
};

static char template_dir[80];

/* ---- a process of a schedule ---- */

static bool is_terminal(enum cm_exec_state s)
{
    return s != CM_EXEC_RUNNING && s != CM_EXEC_PAUSED;
}

/** After a write that failed: the next run works, and another process goes on with this one. */
static void carry_on(struct world *w)
{
    static const char text[] = "program\n    a = read {\"n\":0}\n    await a\n    return $a\n";
    const struct cm_exec_spec spec = {.code = cm_str_of(text), .limits = CM_LIMITS_DEFAULT};
    const bool told = out->told;
    const enum cm_exec_state told_state = out->told_state;
    struct cm_err err = {0};

    if (w->no_outcome && !w->err.message[0])
        bad("there is no outcome, and no word why");
    out->repaired = true;
    w->told = w->no_outcome = false;
    if (cm_exec_start(w->rt, &spec, on_told, w, &w->exec, &err) != CM_OK)
        bad("after the repair nothing can be started: %s", err.message);
    await_word(w);
    if (w->no_outcome || out->told_state != CM_EXEC_COMPLETED)
        bad("after the repair the next run failed: %s", w->err.message);
    out->told = told; /* of this one */
    out->told_state = told_state;
    _exit(REPAIRED);
}

/** What stands under "snippet NAME" is a program that somebody saved. */
static void save_snippets(const struct world *w)
{
    static const char head[] = "\nsnippet ";

    for (const char *p = sc->text; (p = strstr(p, head));) {
        const char *name = p + strlen(head), *body = line_end(name) + 1, *end = body;
        cm_autofree char *z = cm_memdup_z(name, (size_t)(body - 1 - name));
        struct cm_err err = {0};

        while (*end == ' ')
            end = line_end(end) + 1;
        cm_autofree char *code = cm_asprintf("program\n%.*s", (int)(end - body), body);
        const struct cm_snippet_row row = {.runtime = "default", .name = z, .code = cm_str_of(code)};

        if (cm_store_snippet_save(w->store, &row, &err) != CM_OK)
            bad("%s", err.message);
        p = body;
    }
}

/** Where nothing took effect there is nothing to undo, and it stays what it was. */
static bool is_to_roll_back(const struct world *w, const struct found *f)
{
    return sc->roll_back && f->state != CM_EXEC_ROLLED_BACK && w->n_rollbacks < ROLLBACKS_MAX;
}

static void go_on(struct world *w, bool with_audit)
{
    struct found f;

    if (with_audit)
        audit(w);
    for (int i = 0;; i++) {
        if (i == ROUNDS_MAX)
            bad("people are asked without end");
        f = find_execution(w);
        if (f.n > 0 && is_terminal(f.state) && !is_to_roll_back(w, &f))
            break;
        if (f.n == 0) {
            start(w);
        } else if (f.state == CM_EXEC_PAUSED) {
            act(w, &f);
        } else if (f.state == CM_EXEC_RUNNING) {
            bad("an execution is running that nobody runs");
        } else {
            roll_back(w, f.id);
        }
        await_word(w);
        out->counting = false;
        if (out->failed && !out->repaired)
            carry_on(w);
        if (w->no_outcome)
            bad("there is no outcome: %s", w->err.message);
    }
    check_end(w, f.id);
}

static unsigned n_aborts;

/** It says that there is no memory, and leaves no core. */
static void be_quiet(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0);
    if (!freopen("/dev/null", "w", stderr))
        bad("/dev/null");
}

/** Another process, to its end: 0, or how it ended. */
static int process(const struct plan *plan, int64_t crash_at, bool first)
{
    struct world w = {0};
    int status = 0;
    pid_t pid;

    out->open_then += out->unsettled;
    out->unsettled = out->settling = out->in_kernel = 0;
    out->crash_at = crash_at;
    out->n_effects = 0;
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (plan->fail_alloc_at)
            be_quiet();
        out->counting = !first; /* a process that opens what another one left can be stopped at that, too */
        open_world(&w, where, config, plan->keep);
        out->counting = false;
        if (first)
            save_snippets(&w);
        go_on(&w, !first);
        cm_runtime_close(w.rt);
        cm_store_close(w.store);
        if (plan->look)
            check_database();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    out->counting = false;
    /* Memory of our own small sizes that is not there ends the process: a stop like any other, with nothing done in between. */
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && plan->fail_alloc_at && out->failed) {
        n_aborts++;
        return CRASHED;
    }
    if (!WIFEXITED(status))
        fail_msg("%s: a process ended by signal %d after '%s' (effect %lld)", sc->name, WTERMSIG(status),
                 out->last, (long long)out->n_effects);
    return WEXITSTATUS(status);
}

/* ---- schedules ---- */

static void empty_dir(const char *path)
{
    DIR *d = opendir(path);

    assert_non_null(d);
    for (const struct dirent *it; (it = readdir(d));)
        (void)unlinkat(dirfd(d), it->d_name, 0);
    (void)closedir(d);
}

static void copy_dir(const char *from, const char *to)
{
    DIR *d = opendir(from);

    assert_non_null(d);
    for (const struct dirent *it; (it = readdir(d));) {
        cm_autofree char *path = cm_asprintf("%s/%s", to, it->d_name);
        cm_autoclose int fd = openat(dirfd(d), it->d_name, O_RDONLY | O_CLOEXEC);
        struct stat sb;

        if (fd >= 0 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode))
            copy_file(fd, path);
    }
    (void)closedir(d);
}

static void new_world(const struct plan *plan)
{
    cm_autofree char *disk = cm_asprintf("%s/disk", dir);

    empty_dir(dir);
    copy_dir(template_dir, dir);
    *out = (struct outside){.fail_io_at = plan->fail_io_at,
                            .fail_memory_at = plan->fail_memory_at,
                            .fail_alloc_at = plan->fail_alloc_at,
                            .fail_errno = plan->fail_errno,
                            .fail_once = plan->fail_once,
                            .power = plan->power};
    if (plan->power) {
        empty_dir(disk);
        copy_dir(template_dir, disk);
    }
}

/** What the disk has is all there is. */
static void lose_power(void)
{
    cm_autofree char *disk = cm_asprintf("%s/disk", dir);

    empty_dir(dir);
    copy_dir(disk, dir);
}

static unsigned n_schedules, n_unknown;

/** Run a schedule to its end. False: it has no such effect. */
static bool run_schedule(const struct plan *plan)
{
    int64_t crashes[] = {plan->crash_at, plan->crash_again_at, 0};
    int64_t at = 0;
    char last[64] = "";

    new_world(plan);
    for (size_t i = 0; i < CM_ARRAY_LEN(crashes); i++) {
        int rc = process(plan, crashes[i], i == 0);

        if (rc == WRONG)
            fail_msg("%s: after '%s' (effect %lld), then '%s' (effect %lld)%s%s: %s", sc->name, last,
                     (long long)at, out->last, (long long)out->n_effects,
                     plan->power ? ", without what was not synced" : "", plan->keep ? ", in place" : "",
                     out->failure);
        if (rc == 0) {
            n_schedules++;
            n_unknown += out->n_reported_unknown > 0;
            return i > 0 || out->failed;
        }
        if (plan->power)
            lose_power();
        at = out->n_effects;
        memcpy(last, out->last, sizeof last);
    }
    fail_msg("%s: does not end", sc->name);
    return false;
}

/* ---- the tests ---- */

/** With the sanitizers a process costs ten times as much: then it is every so manieth effect. */
static int64_t step_of(int64_t step)
{
    return CM_SANITIZED ? 16 * step : step;
}

/** Each scenario with every value of *at, a member of the plan, until there is nothing more that it meets. */
static void every(struct plan *plan, int64_t *at, int64_t step)
{
    for (size_t i = 0; i < n_scenarios; i++) {
        sc = &scenarios[i];
        /* Another start for each, so that over all of them every place is met also where not every effect is. */
        *at = 1 + (int64_t)i % step_of(step);
        for (unsigned n = 0;; n++) {
            plan->look = n % 8 == 0;
            if (!run_schedule(plan))
                break;
            *at += step_of(step);
        }
    }
}

static int set_up(void **state)
{
    cm_store *s = NULL;
    struct cm_err err = {0};
    cm_autofree char *disk = NULL, *first = NULL;

    (void)state;
    (void)snprintf(dir, sizeof dir, "/dev/shm/cm-schedules-XXXXXX");
    if (!mkdtemp(dir)) {
        (void)snprintf(dir, sizeof dir, "/tmp/cm-schedules-XXXXXX");
        assert_non_null(mkdtemp(dir));
    }
    (void)snprintf(template_dir, sizeof template_dir, "%s/new", dir);
    (void)snprintf(where, sizeof where, "sqlite:%s/codemode.db", dir);
    disk = cm_asprintf("%s/disk", dir);
    first = cm_asprintf("sqlite:%s/codemode.db", template_dir);
    assert_int_equal(mkdir(template_dir, 0700), 0);
    assert_int_equal(mkdir(disk, 0700), 0);
    assert_int_equal(cm_store_open(first, &s, &err), CM_OK);
    cm_store_close(s);
    load_scenarios();
    return 0;
}

static int tear_down(void **state)
{
    cm_autofree char *cmd = cm_asprintf("rm -r '%s'", dir);

    (void)state;
    for (size_t i = 0; i < n_scenarios; i++)
        free(scenarios[i].text);
    print_message("%u schedules of %zu scenarios, a call asked about in %u, ended for lack of memory %u\n",
                  n_schedules, n_scenarios, n_unknown, n_aborts);
    return system(cmd);
}

/** An argument: the only scenario to run. */
static bool open_outside(int argc, char **argv)
{
    out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    only = argc > 1 ? argv[1] : NULL;
    return out != MAP_FAILED && count_memory();
}

#endif
