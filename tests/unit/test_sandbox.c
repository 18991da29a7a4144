/** The host's side of the workers, driven against the real worker program. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/sanitize.h"
#include "wire/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

static int count_entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += e->d_name[0] != '.';
    if (d)
        (void)closedir(d);
    return d ? n : -1;
}

static bool is_alive(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

/** ---- the happy path ---- */

static void a_program_runs_and_its_result_comes_back(void **state)
{
    (void)state;
    struct world w = open_world(NULL);

    expect(w.loop, w.sb, "return 6*7", "42");
    expect(w.loop, w.sb, "return {a: [1, 'x', null]}", "{\"a\":[1,\"x\",null]}");
    close_world(&w);
}

static void an_error_of_the_program_is_its_own_end(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = run(w.loop, w.sb, "throw new TypeError('no')", NULL);

    expect_end(&r, CM_PASS_THREW, "", "");
    assert_non_null(strstr(r.meta, "\"TypeError\""));
    close_world(&w);
}

static void a_call_is_answered_and_the_program_goes_on(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r =
        run(w.loop, w.sb, "const a = await svc.first({x: 1}); return a + (await svc.second({}))", NULL);

    assert_string_equal(r.value, "\"firstsecond\"");
    assert_int_equal(r.n_calls, 2);
    close_world(&w);
}

static void a_program_that_waits_says_for_how_many_calls(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};

    start(w.sb, &r, "test", "return Promise.all([svc.a({}), svc.b({}), svc.c({})])", NULL);
    while (r.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(r.outstanding, 3);
    for (uint32_t id = 1; id <= 3; id++)
        cm_pass_deliver(r.pass, id, false, false, (struct cm_value){.json = CM_STR("1")}, 1700000000001, 1);
    finish(&r);
    assert_string_equal(r.value, "[1,1,1]");
    /* The outcomes were sent together; the waits between them were already out of date. */
    assert_int_equal(r.n_waits, 1);
    close_world(&w);
}

static void a_step_runs_its_function_when_told_to(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = run(w.loop, w.sb, "return codemode.step('pick', () => 7)", NULL);

    assert_string_equal(r.value, "7");
    assert_int_equal(r.n_steps, 1);
    close_world(&w);
}

static void a_program_can_be_normalized_instead_of_run(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_pass_spec spec = {.runtime = "test",
                                .source = CM_STR("```js\n1 + 1\n```"),
                                .normalize = true,
                                .limits = CM_LIMITS_DEFAULT};

    assert_int_equal(cm_sandbox_start(w.sb, &spec, &events, &r, &r.pass, NULL), CM_OK);
    finish(&r);
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_non_null(strstr(r.value, "1 + 1"));
    close_world(&w);
}

/** ---- deaths ---- */

static void kill_worker(struct run *r)
{
    (void)kill((pid_t)r->pid, SIGKILL);
}

static void a_killed_worker_is_a_crash_and_the_next_run_works(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop, .at_call = kill_worker};

    start(w.sb, &r, "test", "console.log('before'); return svc.x({})", NULL);
    while (!r.ended)
        assert_true(cm_loop_once(w.loop));
    expect_end(&r, CM_PASS_CRASHED, "crashed", "signal 9, Killed");
    assert_string_equal(r.logs.ptr, "before\n");
    cm_buf_done(&r.logs);
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

static bool has_ended(int64_t pid)
{
    char path[64];
    char text[512];

    (void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    cm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return true;
    text[n] = '\0';
    const char *close = strrchr(text, ')');
    return close && (close[2] == 'Z' || close[2] == 'X');
}

static int64_t parent_of(int64_t pid)
{
    char path[64];
    char text[512];

    (void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    cm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *close = strrchr(text, ')');
    long long parent = 0;
    return close && sscanf(close, ") %*c %lld", &parent) == 1 ? parent : 0;
}

static void kill_zygote(struct run *r)
{
    (void)kill((pid_t)parent_of(r->pid), SIGKILL);
}

static void a_killed_zygote_takes_its_workers_along_and_is_started_again(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop, .at_call = kill_zygote};

    start(w.sb, &r, "test", "return svc.x({})", NULL);
    finish(&r);
    expect_end(&r, CM_PASS_CRASHED, "crashed", "together with the process that starts sandboxes");
    expect(w.loop, w.sb, "return 3", "3");
    close_world(&w);
}

static void closing_ends_every_pass_as_cancelled_and_leaves_no_process(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1});
    struct run busy = {.loop = w.loop};
    struct run queued = {.loop = w.loop};

    start(w.sb, &busy, "test", "return svc.never({})", NULL);
    start(w.sb, &queued, "other", "return 1", NULL);
    while (busy.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    int64_t worker = cm_pass_pid(busy.pass);
    int64_t zygote = parent_of(worker);
    assert_int_equal(cm_pass_pid(queued.pass), 0);
    close_world(&w);
    assert_true(busy.ended && queued.ended);
    expect_end(&busy, CM_PASS_CANCELLED, "cancelled", "cancelled");
    expect_end(&queued, CM_PASS_CANCELLED, "cancelled", "cancelled");
    assert_false(is_alive(zygote));
    /* Whoever inherits the worker reaps it when it likes; what is left of it until then has no memory and no descriptor. */
    assert_true(!is_alive(worker) || has_ended(worker));
    cm_buf_done(&busy.logs);
    cm_buf_done(&queued.logs);
}

/** A host in a process of its own; tells the pids of its zygote and worker through a pipe, then waits to be
 * killed. */
static void be_host(int fd)
{
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &r, "test", "while (true) {}", &limits);
    int64_t pids[2] = {await_pid(&r), parent_of(await_pid(&r))};
    (void)!write(fd, pids, sizeof(pids));
    for (;;)
        (void)pause();
}

static void a_killed_host_leaves_no_process(void **state)
{
    (void)state;
    int pipe_fds[2];
    int64_t pids[2];

    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t host = fork();
    if (host == 0)
        be_host(pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], pids, sizeof(pids)), sizeof(pids));
    struct pollfd ends[2];
    for (int i = 0; i < 2; i++)
        ends[i] = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, (pid_t)pids[i], 0), .events = POLLIN};
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_int_equal(waitpid(host, NULL, 0), host);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(poll(&ends[i], 1, 10000), 1);
        cm_fd_close(ends[i].fd);
    }
    cm_fd_close(pipe_fds[0]);
    cm_fd_close(pipe_fds[1]);
}

static void a_worker_program_that_does_not_start_fails_the_pass_with_what_it_said(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.worker_path = "/bin/cat"});
    struct run r = run(w.loop, w.sb, "return 1", NULL);
    uint64_t layers = 0;
    struct cm_err err = {0};

    expect_end(&r, CM_PASS_FAILED, "no_worker", "'/bin/cat' ended at its start (exit status");
    assert_int_equal(cm_sandbox_layers(w.sb, &layers, &err), CM_E_UNAVAILABLE);
    close_world(&w);
}

static void a_worker_program_that_never_reports_fails_the_pass_and_not_the_wait(void **state)
{
    (void)state;
    char script[] = "/tmp/cm-worker-XXXXXX";
    int fd = mkstemp(script);

    assert_int_equal(fchmod(fd, 0700), 0);
    assert_true(dprintf(fd, "#!/bin/sh\nexec sleep 1000\n") > 0);
    assert_int_equal(close(fd), 0); /* before anyone may run it */
    struct world w = open_world(&(struct cm_sandbox_opts){.worker_path = script, .start_ms = 50});
    struct run r = run(w.loop, w.sb, "return 1", NULL);

    expect_end(&r, CM_PASS_FAILED, "no_worker", "it did not report in time");
    close_world(&w);
    assert_int_equal(unlink(script), 0);
}

static void a_missing_worker_program_is_named_with_where_it_came_from(void **state)
{
    (void)state;
    cm_loop *loop = NULL;
    cm_sandbox *sb = NULL;
    struct cm_err err = {0};

    assert_int_equal(cm_loop_new(&loop, NULL), CM_OK);
    assert_int_equal(cm_sandbox_open(loop, &(struct cm_sandbox_opts){.worker_path = "/no/such"}, &sb, &err),
                     CM_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "'/no/such'"));
    assert_int_equal(cm_sandbox_open(loop, &(struct cm_sandbox_opts){.isolation = "none"}, &sb, &err),
                     CM_E_INVALID);
    assert_non_null(strstr(err.message, "\"realm\", \"vm\" or \"process\""));
    cm_loop_free(loop);
}

/** ---- who shares what ---- */

static void note_pid(struct run *r)
{
    (void)r;
}

static void two_runtimes_never_share_a_worker(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1});
    int64_t last = 0;

    for (int i = 0; i < 6; i++) {
        struct run r = {.loop = w.loop, .answer = true, .at_call = note_pid};
        start(w.sb, &r, i % 2 ? "one" : "two", "await svc.x({}); return 1", NULL);
        finish(&r);
        assert_int_equal(r.kind, CM_PASS_COMPLETED);
        assert_int_not_equal(r.pid, last);
        last = r.pid;
    }
    close_world(&w);
}

static int64_t pid_of_run(struct world *w)
{
    struct run r = run(w->loop, w->sb, "await svc.x({}); return 1", NULL);

    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    return r.pid;
}

static void a_runtime_keeps_its_worker_until_its_runs_are_used_up(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1, .runs_per_worker = 3});
    int64_t pids[6];

    for (int i = 0; i < 6; i++)
        pids[i] = pid_of_run(&w);
    assert_true(pids[0] == pids[1] && pids[1] == pids[2]);
    assert_true(pids[3] == pids[4] && pids[4] == pids[5]);
    assert_int_not_equal(pids[2], pids[3]);
    close_world(&w);
}

static void with_isolation_process_every_pass_has_a_process_of_its_own(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.isolation = "process"});
    int64_t a = pid_of_run(&w);
    int64_t b = pid_of_run(&w);

    assert_int_not_equal(a, b);
    close_world(&w);
}

static const char *const isolations[] = {"realm", "vm", "process"};

static void every_isolation_runs_the_same_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(isolations); i++) {
        struct world w = open_world(&(struct cm_sandbox_opts){.isolation = isolations[i]});
        int64_t begun = cm_mono_us();

        for (int k = 0; k < 30; k++) {
            expect(w.loop, w.sb, "globalThis.left = 1; Object.prototype.left = 2; return 6*7", "42");
            expect(w.loop, w.sb,
                   "return [typeof left, await svc.ask({}), codemode.step('s', () => 5) instanceof Promise]",
                   "[\"undefined\",\"ask\",true]");
        }
        struct run r = run(w.loop, w.sb, "throw new TypeError('no')", NULL);
        expect_end(&r, CM_PASS_THREW, "", "");
        print_message("# %s: %lld us a pass\n", isolations[i], (long long)(cm_mono_us() - begun) / 61);
        close_world(&w);
    }
}

static void a_vm_for_each_pass_is_made_in_the_locked_down_worker_that_is_kept(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.isolation = "vm"});
    int64_t pid = pid_of_run(&w);

    /* Under a sanitizer each VM makes the worker grow so much that it is replaced. */
    for (int i = 0; i < 5; i++)
        assert_true(pid_of_run(&w) == pid || CM_SANITIZED);
    close_world(&w);
}

static void without_a_jit_the_same_programs_run(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.no_jit = true});

    expect(w.loop, w.sb, "let n = 0; for (let i = 0; i < 100000; i++) n += i; return n", "4999950000");
    close_world(&w);
}

static void more_passes_than_workers_wait_their_turn(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 2});
    struct run runs[8];

    for (size_t i = 0; i < CM_ARRAY_LEN(runs); i++) {
        runs[i] = (struct run){.loop = w.loop, .answer = true};
        start(w.sb, &runs[i], i % 3 ? "one" : "two", "return svc.x({})", NULL);
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(runs); i++) {
        finish(&runs[i]);
        assert_int_equal(runs[i].kind, CM_PASS_COMPLETED);
    }
    close_world(&w);
}

static void a_queued_pass_can_be_killed_and_its_end_comes_later(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};

    start(w.sb, &r, "test", "return 1", NULL);
    cm_pass_stop(r.pass, CM_PASS_LIMIT, "mine", "because");
    assert_false(r.ended);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "mine", "because");
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

static uint64_t own_rss_kb(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
    (void)fclose(f);
    return pages * ((uint64_t)sysconf(_SC_PAGESIZE) >> 10);
}

static void a_thousand_passes_leave_no_descriptor_and_no_memory(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.runs_per_worker = 50});
    int fds = 0;
    uint64_t rss = 0;
    uint64_t cpu_us = 0;
    int64_t begun = 0;

    for (int i = 0; i < 1200; i++) {
        if (i == 200) {
            fds = count_entries("/proc/self/fd");
            rss = own_rss_kb();
            begun = cm_mono_us();
        }
        struct run r = run(w.loop, w.sb, "return 6*7", NULL);
        assert_int_equal(r.kind, CM_PASS_COMPLETED);
        cpu_us += r.cpu_us;
    }
    print_message("# 1,200 passes: %llu us of CPU in the worker each; the last 1,000: %lld us of time each\n",
                  (unsigned long long)cpu_us / 1200, (long long)(cm_mono_us() - begun) / 1000);
    /* A worker that is just being replaced may hold its socket and its pidfd a moment longer. */
    assert_in_range(count_entries("/proc/self/fd"), fds - 4, fds + 4);
    assert_true(own_rss_kb() < rss + 2048);
    close_world(&w);
}

static void a_closed_sandbox_leaves_no_descriptor(void **state)
{
    (void)state;
    int before = 0;

    for (int i = 0; i < 4; i++) {
        struct world w = open_world(NULL);
        expect(w.loop, w.sb, "return 1", "1");
        close_world(&w);
        /* The first loop of a process leaves what all loops share. */
        if (i == 0)
            before = count_entries("/proc/self/fd");
    }
    assert_int_equal(count_entries("/proc/self/fd"), before);
}

/** ---- what a worker has left ---- */

static void look_from_outside(struct run *r)
{
    char path[64];
    char text[4096];

    (void)snprintf(path, sizeof(path), "/proc/%lld/environ", (long long)r->pid);
    cm_autoclose int environ_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (environ_fd < 0 && errno == EACCES)
        return; /* not root: the worker's memory is closed to us, which is the point */
    assert_int_equal(read(environ_fd, text, sizeof(text)), 0);
    (void)snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)r->pid);
    assert_int_equal(count_entries(path), 1);
    (void)snprintf(path, sizeof(path), "/proc/%lld/fd/0", (long long)r->pid);
    ssize_t n = readlink(path, text, sizeof(text) - 1);
    assert_true(n > 7 && memcmp(text, "socket:", 7) == 0);
    (void)snprintf(path, sizeof(path), "/proc/%lld/root/.", (long long)r->pid);
    /* Where nothing can be mounted the root is a directory of a process that is gone: it cannot even be listed. */
    int n_names = count_entries(path);
    assert_true(n_names == 0 || (n_names < 0 && (errno == ENOENT || errno == ESRCH)));
    (void)snprintf(path, sizeof(path), "/proc/%lld/task", (long long)r->pid);
    assert_int_equal(count_entries(path), 1);
    r->n_steps = 1; /* looked */
}

static void a_worker_has_its_socket_and_nothing_else(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop, .answer = true, .at_call = look_from_outside};

    need_layer(&w, CM_LAYER_SECCOMP, "system call filter");
    start(w.sb, &r, "test", "return svc.x({})", NULL);
    finish(&r);
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_true(r.n_steps == 1 || geteuid() != 0);
    close_world(&w);
}

static void the_layers_that_hold_are_reported(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    uint64_t layers = 0;

    expect(w.loop, w.sb, "return 1", "1");
    assert_int_equal(cm_sandbox_layers(w.sb, &layers, NULL), CM_OK);
    assert_true((layers & (UINT64_C(1) << CM_LAYER_RLIMITS)) != 0);
    assert_true((layers & (UINT64_C(1) << CM_LAYER_NO_NEW_PRIVS)) != 0);
    print_message("# layers 0x%llx of 0x%x\n", (unsigned long long)layers, (1u << CM_LAYER_COUNT_) - 1);
    close_world(&w);
}

/** With an argument: only the tests whose name matches it. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_and_its_result_comes_back),
        cmocka_unit_test(an_error_of_the_program_is_its_own_end),
        cmocka_unit_test(a_call_is_answered_and_the_program_goes_on),
        cmocka_unit_test(a_program_that_waits_says_for_how_many_calls),
        cmocka_unit_test(a_step_runs_its_function_when_told_to),
        cmocka_unit_test(a_program_can_be_normalized_instead_of_run),
        cmocka_unit_test(a_killed_worker_is_a_crash_and_the_next_run_works),
        cmocka_unit_test(a_killed_zygote_takes_its_workers_along_and_is_started_again),
        cmocka_unit_test(closing_ends_every_pass_as_cancelled_and_leaves_no_process),
        cmocka_unit_test(a_killed_host_leaves_no_process),
        cmocka_unit_test(a_worker_program_that_does_not_start_fails_the_pass_with_what_it_said),
        cmocka_unit_test(a_worker_program_that_never_reports_fails_the_pass_and_not_the_wait),
        cmocka_unit_test(a_missing_worker_program_is_named_with_where_it_came_from),
        cmocka_unit_test(two_runtimes_never_share_a_worker),
        cmocka_unit_test(a_runtime_keeps_its_worker_until_its_runs_are_used_up),
        cmocka_unit_test(with_isolation_process_every_pass_has_a_process_of_its_own),
        cmocka_unit_test(every_isolation_runs_the_same_programs),
        cmocka_unit_test(a_vm_for_each_pass_is_made_in_the_locked_down_worker_that_is_kept),
        cmocka_unit_test(without_a_jit_the_same_programs_run),
        cmocka_unit_test(more_passes_than_workers_wait_their_turn),
        cmocka_unit_test(a_queued_pass_can_be_killed_and_its_end_comes_later),
        cmocka_unit_test(a_thousand_passes_leave_no_descriptor_and_no_memory),
        cmocka_unit_test(a_closed_sandbox_leaves_no_descriptor),
        cmocka_unit_test(a_worker_has_its_socket_and_nothing_else),
        cmocka_unit_test(the_layers_that_hold_are_reported),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
