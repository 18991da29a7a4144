/**
 * When a worker is replaced and when it is kept, and whom it serves: process ids tell. Against the real worker program, and for what a
 * worker itself refuses, by its own frames.
 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

/** ---- who ran it ---- */

/** The process that a runtime's next program is in. */
static int64_t pid_of(struct world *w, const char *runtime)
{
    struct run r = {.loop = w->loop, .answer = true};

    start(w->sb, &r, runtime, "await svc.x({}); return 1", NULL);
    finish(&r);
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_true(r.pid > 0);
    return r.pid;
}

static void kill_worker(struct run *r)
{
    (void)kill((pid_t)r->pid, SIGKILL);
}

static void cancel(struct run *r)
{
    cm_pass_stop(r->pass, CM_PASS_CANCELLED, "cancelled", "by the test");
}

/**
 * Say something in the worker's name that it would never say: through a copy of its end of the socket. False: this system lets
 * nobody take one.
 */
static bool speak_for(int64_t pid, const void *bytes, size_t len)
{
    cm_autoclose int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    cm_autoclose int fd = (int)syscall(SYS_pidfd_getfd, pidfd, 0, 0);

    return fd >= 0 && send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool may_speak; /* for another process */

static void break_protocol(struct run *r)
{
    static const unsigned char hello_again[] = {5, 0, 0, 0,  CM_FRAME_HELLO, 0, 0, 0, 0, 0, 0, 0, 1,
                                                0, 0, 0, '2'};

    may_speak = speak_for(r->pid, hello_again, sizeof(hello_again));
    if (!may_speak)
        kill_worker(r);
}

/** ---- what replaces a worker, and what does not ---- */

struct ending {
    const char *what, *source;
    const char *code; /* as the pass ends; "" the program's own end */
    bool replaced;
    bool needs_memory_limit;
    bool answer;
    void (*at_call)(struct run *r);
    void (*at_wait)(struct run *r);
    uint32_t cpu_ms, wall_ms, deadline_ms; /* 0: the default */
};

static const struct ending endings[] = {
    {"CPU limit", "for (;;);", "cpu_limit", true, .cpu_ms = 100},
    {"wall limit", "for (;;);", "wall_limit", true, .wall_ms = 100, .cpu_ms = 60000},
    {"deadline", "await svc.x({})", "deadline", true, .deadline_ms = 100},
    {"memory limit", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", "memory_limit", true,
     .needs_memory_limit = true, .cpu_ms = 20000},
    {"frame limit", "return 'x'.repeat(17000000)", "frame_limit", true},
    {"calls in flight", "for (let i = 0; i < 40; i++) svc.x({}); await svc.x({})", "calls_in_flight_limit",
     true},
    {"timers", "for (let i = 0; i < 101; i++) setTimeout(() => {}, 1e6); await svc.x({})", "timers_limit",
     true},
    {"crash", "await svc.x({})", "crashed", true, .at_call = kill_worker},
    {"protocol", "await svc.x({})", "protocol", true, .at_call = break_protocol},
    {"cancelled", "await svc.x({})", "cancelled", true, .at_call = cancel},
    {"cancelled while it waits", "svc.x({}); setTimeout(() => {}, 1e6); await svc.x({})", "cancelled", false,
     .at_wait = cancel},
    {"memory growth of what was cancelled",
     "const a = []; for (let i = 0; i < 48; i++) a.push(new Uint8Array(1 << 20).fill(1)); await svc.x({}); "
     "return a.length",
     "cancelled", true, .needs_memory_limit = true, .at_wait = cancel},
    {"memory growth",
     "const a = []; for (let i = 0; i < 48; i++) a.push(new Uint8Array(1 << 20).fill(1)); return a.length",
     "", true, .needs_memory_limit = true},
    {"a result", "return {a: [1, 2, 3]}", "", false},
    {"an error", "throw new TypeError('no')", "", false},
    {"no program", "return ((", "", false},
    {"a promise that nothing settles", "await new Promise(() => {})", "", false},
    {"an exhausted stack that was caught", "try { (function f() { f(); })(); } catch { return 1; }", "",
     false},
    {"much console output",
     "for (let i = 0; i < 5000; i++) console.log('0123456789012345678901234567890123456789')", "", false},
    {"unanswered calls and timers",
     "for (let i = 0; i < 9; i++) svc.x({}); setInterval(() => {}, 1e6); return 1", "", false},
    {"answered calls", "for (let i = 0; i < 50; i++) await svc.x({i}); return 1", "", false, .answer = true},
    {"unhandled rejections", "for (let i = 0; i < 50; i++) Promise.reject(i); return 1", "", false},
    {"a result of a megabyte", "return 'x'.repeat(1 << 20)", "", false},
};

static void end_that_way(struct world *w, const struct ending *e)
{
    struct run r = {.loop = w->loop, .answer = e->answer, .at_call = e->at_call, .at_wait = e->at_wait};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = e->cpu_ms ? e->cpu_ms : limits.cpu_ms;
    limits.wall_ms = e->wall_ms ? e->wall_ms : limits.wall_ms;
    limits.deadline_ms = e->deadline_ms ? e->deadline_ms : limits.deadline_ms;
    start(w->sb, &r, "test", e->source, &limits);
    finish(&r);
    /* A deadline that came before the program had a worker is not that worker's end. */
    for (; e->deadline_ms && r.n_calls == 0; limits.deadline_ms *= 2) {
        r = (struct run){.loop = w->loop};
        start(w->sb, &r, "test", e->source, &limits);
        finish(&r);
    }
    if (e->at_call == break_protocol && !may_speak) {
        print_message("# %s: no way here to speak for a worker, killed instead\n", e->what);
        assert_string_equal(r.code, "crashed");
        return;
    }
    if (!cm_z_eq(r.code, e->code))
        fail_msg("%s: kind %d code '%s' message '%s' meta '%s'", e->what, (int)r.kind, r.code, r.message,
                 r.meta);
}

static bool has_memory_limit(struct world *w)
{
    uint64_t layers = 0;

    while (cm_sandbox_layers(w->sb, &layers, NULL) != CM_OK)
        assert_true(cm_loop_once(w->loop));
    return (layers & (UINT64_C(1) << CM_LAYER_MEMORY)) != 0;
}

static void see_endings(const char *isolation)
{
    struct world w = open_world(&(struct cm_sandbox_opts){.isolation = isolation, .pool_size = 1});
    bool limited = has_memory_limit(&w);
    int64_t last = pid_of(&w, "test");

    for (size_t i = 0; i < CM_ARRAY_LEN(endings); i++) {
        const struct ending *e = &endings[i];
        if (e->needs_memory_limit && !limited) {
            print_message("# %s: not without the memory limit\n", e->what);
            continue;
        }
        end_that_way(&w, e);
        int64_t next = pid_of(&w, "test");
        /* Where memory is not limited, as under a sanitizer, its growth is not the program's own doing either. */
        if (e->replaced ? next == last : limited && next != last)
            fail_msg("isolation '%s': %s: the worker was %s", isolation, e->what,
                     next == last ? "kept" : "replaced");
        last = next;
    }
    close_world(&w);
}

static void a_worker_is_replaced_for_each_of_its_reasons_and_for_nothing_else(void **state)
{
    (void)state;
    see_endings("realm");
}

static void a_worker_with_a_vm_for_each_run_is_replaced_for_the_same_reasons(void **state)
{
    (void)state;
    see_endings("vm");
}

static void a_worker_serves_as_many_runs_as_it_may(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 3; most += 2) {
        struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1, .runs_per_worker = most});
        int64_t last = 0;

        for (uint32_t i = 0; i < 3 * most; i++) {
            int64_t pid = pid_of(&w, "test");
            assert_true((pid != last) == (i % most == 0));
            last = pid;
        }
        close_world(&w);
    }
}

static void a_worker_past_its_age_is_replaced_and_a_new_one_always_serves_once(void **state)
{
    (void)state;
    /* Each is older than that before it is ready. */
    struct world w = open_world(&(struct cm_sandbox_opts){.worker_age_ms = 1});
    int64_t last = 0;

    for (int i = 0; i < 4; i++) {
        int64_t pid = pid_of(&w, "test");
        assert_int_not_equal(pid, last);
        last = pid;
    }
    close_world(&w);
    w = open_world(&(struct cm_sandbox_opts){.pool_size = 1, .worker_age_ms = 3600000});
    last = pid_of(&w, "test");
    for (int i = 0; i < 20; i++)
        assert_int_equal(pid_of(&w, "test"), last);
    close_world(&w);
}

/** ---- runtimes ---- */

#define N_RUNTIMES 3
static const char *const runtimes[N_RUNTIMES] = {"one", "two", "three"};

/** Which runtime each process was seen to serve. */
struct seen {
    int64_t pids[256];
    size_t owners[256];
    size_t n;
};

static void note(struct seen *s, int64_t pid, size_t owner)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pids[i] == pid && s->owners[i] != owner)
            fail_msg("process %lld served '%s' and '%s'", (long long)pid, runtimes[s->owners[i]],
                     runtimes[owner]);
        if (s->pids[i] == pid)
            return;
    }
    assert_true(s->n < CM_ARRAY_LEN(s->pids));
    s->pids[s->n] = pid;
    s->owners[s->n++] = owner;
}

static void no_process_serves_two_runtimes(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 4; most++) {
        struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = most, .pool_size = 1});
        struct seen seen = {.n = 0};
        struct run runs[12];

        /* One after the other: with few workers each change of runtime evicts one that is idle. */
        for (size_t i = 0; i < 12; i++)
            note(&seen, pid_of(&w, runtimes[i % N_RUNTIMES]), i % N_RUNTIMES);
        /* All at once: workers are handed on while others wait. */
        for (size_t i = 0; i < CM_ARRAY_LEN(runs); i++) {
            runs[i] = (struct run){.loop = w.loop, .answer = true};
            start(w.sb, &runs[i], runtimes[i * 7 % N_RUNTIMES], "await svc.x({}); return 1", NULL);
        }
        for (size_t i = 0; i < CM_ARRAY_LEN(runs); i++) {
            finish(&runs[i]);
            assert_int_equal(runs[i].kind, CM_PASS_COMPLETED);
            note(&seen, runs[i].pid, i * 7 % N_RUNTIMES);
        }
        print_message("# %u workers at most: %zu processes for 24 runs\n", most, seen.n);
        close_world(&w);
    }
}

static void an_evicted_worker_is_gone_and_a_busy_one_stays(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 2, .pool_size = 1});
    struct run busy = {.loop = w.loop};

    start(w.sb, &busy, "one", "await svc.x({}); return 1", NULL);
    while (busy.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    int64_t idle = pid_of(&w, "two");
    cm_autoclose int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)idle, 0);
    int64_t third = pid_of(&w, "three");
    assert_true(third != idle && third != busy.pid);
    /* It was killed before the other was asked for; its end can be waited for, and comes. */
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    assert_true(pidfd < 0 || poll(&p, 1, 10000) == 1);
    assert_false(busy.ended);
    assert_int_equal(cm_pass_pid(busy.pass), busy.pid);
    cm_pass_deliver(busy.pass, 1, false, false, (struct cm_value){.json = CM_STR("1")}, 1700000000001, 1);
    finish(&busy);
    assert_int_equal(busy.kind, CM_PASS_COMPLETED);
    close_world(&w);
}

/** ---- what a worker itself refuses ---- */

/** A zygote of the test's own, and what it says. */
struct zygote {
    pid_t pid;
    int control;
};

static struct zygote start_zygote(void)
{
    char *argv[] = {getenv("CODEMODE_WORKER"), NULL};
    char *no_environment[] = {NULL};
    struct zygote z = {.pid = -1};
    int pair[2];

    assert_non_null(argv[0]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    int high = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    z.control = fcntl(pair[0], F_DUPFD_CLOEXEC, 10);
    cm_fd_close(pair[0]);
    cm_fd_close(pair[1]);
    z.pid = fork();
    if (z.pid == 0) {
        (void)dup2(high, CM_CONTROL_FD);
        (void)execve(argv[0], argv, no_environment);
        _exit(127);
    }
    cm_fd_close(high);
    return z;
}

/** The next message of that type; its first descriptor, or -1. */
static int await_message(const struct zygote *z, uint32_t type, struct cm_control_msg *m)
{
    for (;;) {
        union {
            struct cmsghdr head;
            char bytes[CMSG_SPACE(2 * sizeof(int))];
        } control = {0};
        struct iovec part = {m, sizeof(*m)};
        struct msghdr msg = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        int fds[2] = {-1, -1};

        assert_int_equal(recvmsg(z->control, &msg, MSG_CMSG_CLOEXEC), sizeof(*m));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        if (c)
            memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
        cm_fd_close(fds[1]);
        if (m->type == type)
            return fds[0];
        cm_fd_close(fds[0]);
    }
}

static void send_frame(int fd, enum cm_frame_type type, const struct cm_str *parts, size_t n)
{
    cm_autobuf out = CM_BUF_INIT(1u << 16);

    cm_wire_encode(&out, type, 0, 0, parts, n);
    /* One that has ended takes no more; what its end was is looked at later. */
    (void)!send(fd, out.ptr, out.len, MSG_NOSIGNAL);
}

/** Read until a frame of that type has come. False: it ended before. */
static bool await_frame(int fd, enum cm_frame_type type)
{
    cm_autobuf in = CM_BUF_INIT(1u << 20);

    for (;;) {
        struct cm_frame f;
        size_t used = 0;

        assert_int_equal(cm_wire_decode(in.ptr, in.len, 1u << 20, &f, &used, NULL), CM_OK);
        if (used > 0 && f.type == type)
            return true;
        cm_buf_drop_front(&in, used);
        if (used > 0)
            continue;
        char *room = cm_buf_reserve(&in, 4096);
        ssize_t n = read(fd, room, 4096);
        if (n <= 0)
            return false;
        in.len += (size_t)n;
    }
}

static int fork_worker(const struct zygote *z, uint64_t serial)
{
    const struct cm_control_msg fork = {
        .type = CM_CONTROL_FORK, .version = CM_CONTROL_VERSION, .serial = serial};
    const struct cm_str version = CM_STR(CM_WIRE_VERSION);
    struct cm_control_msg m = {0};

    assert_int_equal(send(z->control, &fork, sizeof(fork), MSG_NOSIGNAL), sizeof(fork));
    int fd = await_message(z, CM_CONTROL_FORKED, &m);
    assert_true(fd >= 0 && await_frame(fd, CM_FRAME_HELLO));
    send_frame(fd, CM_FRAME_HELLO, &version, 1);
    return fd;
}

static void send_bind(int fd, const char *runtime, const char *connector)
{
    cm_autofree char *json = cm_asprintf("{\"connectors\":[{\"name\":\"%s\",\"methods\":null}]}", connector);
    const struct cm_str parts[] = {cm_str_of(runtime), cm_str_of(json)};

    send_frame(fd, CM_FRAME_BIND, parts, 2);
}

static void send_run(int fd)
{
    const struct cm_str parts[] = {
        CM_STR("{\"seed\":\"00000000000000000000000000000000\",\"now\":1,\"stackKb\":512,\"mode\":\"run\"}"),
        CM_STR("return 1"), CM_STR(""), CM_STR("")};

    send_frame(fd, CM_FRAME_RUN, parts, 4);
}

/** It hung up, and not because it was killed or crashed. */
static void expect_refusal(const struct zygote *z, int fd)
{
    struct cm_control_msg m = {0};

    assert_false(await_frame(fd, CM_FRAME_DONE));
    (void)await_message(z, CM_CONTROL_EXITED, &m);
    assert_int_equal(m.exit_code, CLD_EXITED);
    assert_int_equal(m.exit_status, 3);
    cm_fd_close(fd);
}

static void a_worker_refuses_to_be_bound_to_another_runtime(void **state)
{
    (void)state;
    struct zygote z = start_zygote();
    struct cm_control_msg m = {0};

    (void)await_message(&z, CM_CONTROL_HELLO, &m);
    int fd = fork_worker(&z, 1);
    /* Other connectors of the same runtime are no other runtime. */
    for (int i = 0; i < 3; i++) {
        send_bind(fd, "one", i % 2 ? "a" : "b");
        send_run(fd);
        assert_true(await_frame(fd, CM_FRAME_DONE));
    }
    send_bind(fd, "two", "a");
    send_run(fd);
    expect_refusal(&z, fd);
    /* And a program that nobody has said the runtime of does not run. */
    fd = fork_worker(&z, 2);
    send_run(fd);
    expect_refusal(&z, fd);
    cm_fd_close(z.control);
    assert_int_equal(waitpid(z.pid, NULL, 0), z.pid);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_replaced_for_each_of_its_reasons_and_for_nothing_else),
        cmocka_unit_test(a_worker_with_a_vm_for_each_run_is_replaced_for_the_same_reasons),
        cmocka_unit_test(a_worker_serves_as_many_runs_as_it_may),
        cmocka_unit_test(a_worker_past_its_age_is_replaced_and_a_new_one_always_serves_once),
        cmocka_unit_test(no_process_serves_two_runtimes),
        cmocka_unit_test(an_evicted_worker_is_gone_and_a_busy_one_stays),
        cmocka_unit_test(a_worker_refuses_to_be_bound_to_another_runtime),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("retire", tests, NULL, NULL);
}
