/** Deaths: of a worker, of the zygote, of the host, at any moment; and what ten thousand programs leave behind. */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/sanitize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

#define WITH_THE_ZYGOTE "together with the process that starts sandboxes"

static struct cm_worker *worker_in(const struct world *w, enum cm_worker_state state)
{
    for (struct cm_worker *at = w->sb->workers; at; at = at->next) {
        if (at->state == state)
            return at;
    }
    return NULL;
}

/** ---- a worker dies ---- */

static struct cm_worker *is_starting(const struct world *w, const struct run *r)
{
    (void)r;
    return worker_in(w, CM_WORKER_STARTING);
}

static struct cm_worker *is_running(const struct world *w, const struct run *r)
{
    struct cm_worker *busy = worker_in(w, CM_WORKER_BUSY);

    return busy && r->n_logs > 0 ? busy : NULL;
}

static struct cm_worker *is_in_a_frame(const struct world *w, const struct run *r)
{
    struct cm_worker *busy = worker_in(w, CM_WORKER_BUSY);

    (void)r;
    return busy && busy->in.len > 0 ? busy : NULL;
}

static struct cm_worker *is_waiting(const struct world *w, const struct run *r)
{
    return r->n_waits > 0 ? worker_in(w, CM_WORKER_BUSY) : NULL;
}

static struct cm_worker *is_tidying(const struct world *w, const struct run *r)
{
    (void)r;
    return worker_in(w, CM_WORKER_TIDYING);
}

static struct cm_worker *is_idle(const struct world *w, const struct run *r)
{
    return r->ended ? worker_in(w, CM_WORKER_READY) : NULL;
}

/** When to kill, and what becomes of the run that is under way. */
struct moment {
    const char *name;
    struct cm_worker *(*is_now)(const struct world *w, const struct run *r);
    const char *source;
    bool crashes;
};

static const struct moment moments[] = {
    {"between its fork and its first pass", is_starting, "return 1", false},
    {"while its program runs", is_running, "console.log('on'); while (true);", true},
    {"in the middle of a frame", is_in_a_frame, "return svc.x({a: 'x'.repeat(8 << 20)})", true},
    {"during a call", is_waiting, "return svc.x({})", true},
    {"while it tidies up", is_tidying, "return 1", false},
    {"while it is idle", is_idle, "return 1", false},
};

static void a_worker_killed_at_any_moment_ends_its_run_and_no_other(void **state)
{
    (void)state;
    struct world w = open_world(NULL);

    for (size_t i = 0; i < CM_ARRAY_LEN(moments); i++) {
        const struct moment *m = &moments[i];
        struct run r = {.loop = w.loop};
        struct cm_worker *victim;

        /* A worker of its own, so that the first of the moments comes too. */
        start(w.sb, &r, m->name, m->source, NULL);
        while (!(victim = m->is_now(&w, &r)))
            assert_true(cm_loop_once(w.loop));
        assert_int_equal(kill(victim->pid, SIGKILL), 0);
        finish(&r);
        if (m->crashes)
            expect_end(&r, CM_PASS_CRASHED, "crashed", "signal 9, Killed");
        else
            assert_int_equal(r.kind, CM_PASS_COMPLETED);
        expect(w.loop, w.sb, "return 2", "2");
    }
    close_world(&w);
}

/** Its program is dropped while it waits, when nobody looks at workers from time to time any more. */
static void a_worker_that_does_not_tidy_up_what_was_dropped_is_killed(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_worker *stopped;
    uint64_t serial;
    bool is_there = true;

    start(w.sb, &r, "test", "await svc.x({})", NULL);
    while (!(stopped = is_waiting(&w, &r)) || w.sb->sample_ms)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(kill(stopped->pid, SIGSTOP), 0);
    serial = stopped->serial;
    cm_pass_stop(r.pass, CM_PASS_CANCELLED, "cancelled", "by the test");
    finish(&r);
    expect_end(&r, CM_PASS_CANCELLED, "cancelled", "by the test");
    while (is_there) {
        assert_true(cm_loop_once(w.loop));
        is_there = false;
        for (const struct cm_worker *at = w.sb->workers; at; at = at->next)
            is_there = is_there || at->serial == serial;
    }
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

static void a_pass_whose_workers_are_all_killed_unheard_is_not_started_for_ever(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    pid_t last = 0;
    unsigned killed = 0;

    start(w.sb, &r, "test", "for (;;);", NULL);
    while (!r.ended) {
        struct cm_worker *busy = worker_in(&w, CM_WORKER_BUSY);
        if (busy && busy->pid != last) {
            last = busy->pid;
            killed += kill(last, SIGKILL) == 0;
        }
        bool more = cm_loop_once(w.loop);
        assert_true(more || r.ended);
    }
    finish(&r);
    expect_end(&r, CM_PASS_CRASHED, "crashed", "signal 9, Killed");
    assert_in_range(killed, 1, 2);
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

static void workers_that_all_die_at_their_start_are_a_clear_refusal_until_one_lives(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_worker *victim;
    unsigned killed = 0;

    start(w.sb, &r, "test", "return 1", NULL);
    while (!r.ended) {
        victim = worker_in(&w, CM_WORKER_STARTING);
        if (victim)
            killed += kill(victim->pid, SIGKILL) == 0;
        assert_true(cm_loop_once(w.loop));
    }
    finish(&r);
    expect_end(&r, CM_PASS_FAILED, "no_worker", "No sandbox process could be started: signal 9, Killed");
    assert_true(killed >= 3);
    struct run again;
    do
        again = run(w.loop, w.sb, "return 2", NULL); /* refused at once for a second, so that nothing spins */
    while (again.kind == CM_PASS_FAILED);
    assert_string_equal(again.value, "2");
    close_world(&w);
}

static void a_worker_that_is_stopped_meets_the_wall_limit(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.wall_ms = 200;
    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &r, "test", "console.log('on'); while (true);", &limits);
    while (r.n_logs == 0)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(kill((pid_t)cm_pass_pid(r.pass), SIGSTOP), 0);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "wall_limit", "limits.wallMs");
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

/** ---- the zygote dies ---- */

static void kill_zygote(const struct world *w)
{
    if (w->sb->zygote.pid)
        assert_int_equal(kill(w->sb->zygote.pid, SIGKILL), 0);
}

static void expect_survived(const struct run *r)
{
    if (r->kind != CM_PASS_COMPLETED)
        expect_end(r, CM_PASS_CRASHED, "crashed", WITH_THE_ZYGOTE);
}

static void the_zygote_killed_after_any_turn_of_the_loop_is_started_again(void **state)
{
    (void)state;
    static const unsigned turns[] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 13};
    unsigned crashed = 0;

    for (size_t i = 0; i < CM_ARRAY_LEN(turns); i++) {
        struct world w = open_world(NULL);
        struct run r = {.loop = w.loop, .answer = true};

        start(w.sb, &r, "test", "await svc.x({}); return svc.y({})", NULL);
        for (unsigned k = 0; k < turns[i] && !r.ended; k++)
            assert_true(cm_loop_once(w.loop));
        kill_zygote(&w);
        finish(&r);
        expect_survived(&r);
        crashed += r.kind == CM_PASS_CRASHED;
        expect(w.loop, w.sb, "return 2", "2");
        close_world(&w);
    }
    print_message("# %u of %zu runs were lost with it\n", crashed, CM_ARRAY_LEN(turns));
}

static void the_zygote_killed_while_it_warms_up_loses_what_runs_and_not_what_waits(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run runs = {.loop = w.loop};
    struct run waits = {.loop = w.loop};

    start(w.sb, &runs, "one", "return svc.x({})", NULL);
    while (runs.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    start(w.sb, &waits, "two", "return 1", NULL);
    assert_non_null(worker_in(&w, CM_WORKER_FORKING)); /* the second fork pays for warming */
    kill_zygote(&w);
    finish(&runs);
    finish(&waits);
    expect_end(&runs, CM_PASS_CRASHED, "crashed", WITH_THE_ZYGOTE);
    assert_int_equal(waits.kind, CM_PASS_COMPLETED);
    close_world(&w);
}

/** This program under another name: a zygote that gets to HELLO, and then no further. */
static int be_bad_zygote(const char *name)
{
    struct cm_control_msg m = {.type = CM_CONTROL_HELLO, .version = CM_CONTROL_VERSION};

    if (send(CM_CONTROL_FD, &m, sizeof(m), 0) != (ssize_t)sizeof(m) ||
        recv(CM_CONTROL_FD, &m, sizeof(m), 0) <= 0)
        return 1;
    while (strstr(name, "silent") && recv(CM_CONTROL_FD, &m, sizeof(m), 0) > 0)
        ;
    return 7;
}

static void with_bad_zygote(const char *name, const char *in_message)
{
    char folder[] = "/tmp/cm-zygote-XXXXXX";
    char self[PATH_MAX] = "";
    char path[PATH_MAX];

    assert_non_null(mkdtemp(folder));
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(symlink(self, path), 0);
    struct world w = open_world(&(struct cm_sandbox_opts){.worker_path = path, .start_ms = 1000});
    struct run r = run(w.loop, w.sb, "return 1", NULL);
    expect_end(&r, CM_PASS_FAILED, "no_worker", in_message);
    close_world(&w);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_zygote_that_dies_of_every_fork_is_not_started_for_ever(void **state)
{
    (void)state;
    with_bad_zygote("zygote-that-dies", "ended before a worker was ready (exit status 7)");
}

static void a_zygote_that_answers_no_fork_does_not_hold_up_the_pass(void **state)
{
    (void)state;
    with_bad_zygote("zygote-that-is-silent", "it did not report in time");
}

/** ---- the host dies ---- */

struct host_moment {
    const char *name;
    const char *source; /* NULL: nothing runs */
    bool (*is_now)(const struct world *w, const struct run *r);
};

static bool at_once(const struct world *w, const struct run *r)
{
    (void)w, (void)r;
    return true;
}

static bool said_hello(const struct world *w, const struct run *r)
{
    (void)r;
    return w->sb->zygote.said_hello;
}

static bool a_worker_starts(const struct world *w, const struct run *r)
{
    (void)r;
    return worker_in(w, CM_WORKER_STARTING) != NULL;
}

static bool it_warms_up(const struct world *w, const struct run *r)
{
    return r->ended && worker_in(w, CM_WORKER_FORKING);
}

static bool it_logged(const struct world *w, const struct run *r)
{
    (void)w;
    return r->n_logs > 0;
}

static bool it_waits(const struct world *w, const struct run *r)
{
    (void)w;
    return r->n_waits > 0;
}

static bool all_is_idle(const struct world *w, const struct run *r)
{
    return r->ended && worker_in(w, CM_WORKER_READY) && !worker_in(w, CM_WORKER_TIDYING);
}

static const struct host_moment host_moments[] = {
    {"at its start", NULL, at_once},
    {"with the zygote ready", NULL, said_hello},
    {"while a worker starts", NULL, a_worker_starts},
    {"while the zygote warms up", "return 1", it_warms_up},
    {"while a program runs", "console.log('on'); for (;;);", it_logged},
    {"during a call", "return svc.x({})", it_waits},
    {"while all is idle", "return 1", all_is_idle},
};

/** The host: gets to its moment, says so, and waits to be killed. */
__attribute__((noreturn)) static void be_host(const struct host_moment *m, int fd)
{
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 2});
    struct run r = {.loop = w.loop};

    if (m->source)
        start(w.sb, &r, "test", m->source, NULL);
    while (!m->is_now(&w, &r) && cm_loop_once(w.loop))
        ;
    (void)!write(fd, "", 1);
    for (;;)
        (void)pause();
}

/** What the dead leave comes to us; returns how many, once all of them have ended. One that does not, is killed by the alarm with us. */
static unsigned reap_all(void)
{
    unsigned n = 0;

    (void)alarm(20);
    for (;;) {
        pid_t pid = waitpid(-1, NULL, 0);
        n += pid > 0;
        if (pid < 0 && errno == ECHILD)
            break;
    }
    (void)alarm(0);
    return n;
}

static void a_host_killed_at_any_moment_leaves_no_process(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    for (size_t i = 0; i < CM_ARRAY_LEN(host_moments); i++) {
        int fds[2];
        char byte;

        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        pid_t host = fork();
        if (host == 0)
            be_host(&host_moments[i], fds[1]);
        cm_fd_close(fds[1]);
        assert_int_equal(read(fds[0], &byte, 1), 1);
        cm_fd_close(fds[0]);
        assert_int_equal(kill(host, SIGKILL), 0);
        unsigned n = reap_all();
        print_message("# %s: %u processes with it\n", host_moments[i].name, n - 1);
        assert_true(n >= 2); /* the zygote at least */
    }
}

/** With an argument: only the tests whose name matches it. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_killed_at_any_moment_ends_its_run_and_no_other),
        cmocka_unit_test(a_worker_that_does_not_tidy_up_what_was_dropped_is_killed),
        cmocka_unit_test(a_pass_whose_workers_are_all_killed_unheard_is_not_started_for_ever),
        cmocka_unit_test(workers_that_all_die_at_their_start_are_a_clear_refusal_until_one_lives),
        cmocka_unit_test(a_worker_that_is_stopped_meets_the_wall_limit),
        cmocka_unit_test(the_zygote_killed_after_any_turn_of_the_loop_is_started_again),
        cmocka_unit_test(the_zygote_killed_while_it_warms_up_loses_what_runs_and_not_what_waits),
        cmocka_unit_test(a_zygote_that_dies_of_every_fork_is_not_started_for_ever),
        cmocka_unit_test(a_zygote_that_answers_no_fork_does_not_hold_up_the_pass),
        cmocka_unit_test(a_host_killed_at_any_moment_leaves_no_process),
    };

    if (strstr(argv[0], "/zygote-that-"))
        return be_bad_zygote(argv[0]);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
