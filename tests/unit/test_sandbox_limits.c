/** The limits of a pass, each met by a program that runs into it, against the real worker program. */
#include "base/clock.h"
#include "base/fd.h"
#include "wire/control.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sandbox_run.h"

static void an_endless_loop_ends_near_its_cpu_limit_while_others_run_on(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 2});
    struct run spin = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 100;
    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &spin, "other", "while (true) {}", &limits);
    expect(w.loop, w.sb, "return 2", "2");
    assert_false(spin.ended);
    finish(&spin);
    expect_end(&spin, CM_PASS_LIMIT, "cpu_limit", "100 ms of CPU time (limits.cpuMs)");
    /* It can be late where the machine is busy, and never early. */
    assert_in_range(spin.cpu_us, 100000, 250000);
    close_world(&w);
}

static void a_loop_in_a_builtin_is_stopped_too(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 100;
    struct run r = run(w.loop, w.sb, "return /(a+)+b/.test('a'.repeat(40))", &limits);
    /* A backtracking limit of the engine may answer first; what must not happen is that it goes on. */
    assert_true(r.kind == CM_PASS_LIMIT || r.kind == CM_PASS_COMPLETED || r.kind == CM_PASS_THREW);
    r = run(w.loop, w.sb, "try { while (true) {} } finally { while (true) {} }", &limits);
    expect_end(&r, CM_PASS_LIMIT, "cpu_limit", "limits.cpuMs");
    r = run(w.loop, w.sb, "const again = () => Promise.resolve().then(again); await again()", &limits);
    expect_end(&r, CM_PASS_LIMIT, "cpu_limit", "limits.cpuMs");
    close_world(&w);
}

static void the_kernel_ends_a_spinning_worker_when_the_host_is_held_up(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 50; /* enough for the loop to stand still first */
    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &r, "test", "while (true) {}", &limits);
    /* The host's loop stands still: only the worker's own end, seen through a descriptor, goes on. */
    int pidfd = (int)syscall(SYS_pidfd_open, await_pid(&r), 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 20000), 1);
    cm_fd_close(pidfd);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "cpu_limit", "limits.cpuMs");
    close_world(&w);
}

/** CPU time of a process in milliseconds; 0 once it is gone. */
static int64_t cpu_ms_of(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void what_was_logged_is_kept_although_the_host_had_not_read_it(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 50;
    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &r, "test", "console.log('last'); console.log('words'); for (;;);", &limits);
    /* The host's loop stands still until the limit is long past: its timer and the lines come at once. */
    pid_t pid = await_pid(&r);
    int64_t begun = cpu_ms_of(pid);
    while (cpu_ms_of(pid) < begun + 200)
        (void)sched_yield();
    while (!r.ended)
        assert_true(cm_loop_once(r.loop));
    expect_end(&r, CM_PASS_LIMIT, "cpu_limit", "limits.cpuMs");
    assert_int_equal(r.n_logs, 2);
    assert_string_equal(r.logs.ptr, "last\nwords\n");
    cm_buf_done(&r.logs);
    close_world(&w);
}

static void time_spent_waiting_for_a_call_is_not_the_programs(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    expect(w.loop, w.sb, "return 1", "1");
    limits.wall_ms = 300;
    limits.deadline_ms = 900;
    start(w.sb, &r, "test", "return svc.slow({})", &limits);
    int64_t begun = cm_mono_ms();
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "deadline",
               "900 ms, waiting for calls included (limits.deadlineMs). 1 call was unanswered.");
    assert_true(cm_mono_ms() - begun >= 890);
    close_world(&w);
}

static void a_program_stopped_from_outside_meets_the_wall_limit(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.wall_ms = 200;
    expect(w.loop, w.sb, "return 1", "1");
    start(w.sb, &r, "test", "while (true) {}", &limits);
    assert_int_equal(kill(await_pid(&r), SIGSTOP), 0);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "wall_limit", "200 ms (limits.wallMs)");
    expect(w.loop, w.sb, "return 2", "2");
    close_world(&w);
}

static void a_program_may_use_memory_up_to_its_limit(void **state)
{
    (void)state;
    struct world w = open_world(NULL);

    for (int i = 0; i < 5; i++)
        expect(w.loop, w.sb,
               "const a = []; for (let i = 0; i < 64; i++) a.push(new Uint8Array(1 << 20).fill(1)); return "
               "a.length",
               "64");
    close_world(&w);
}

static void console_output_is_kept_up_to_its_limit_and_then_one_line_says_so(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.log_bytes = 100;
    start(w.sb, &r, "test", "for (let i = 0; i < 5000; i++) console.log('0123456789'); return 1", &limits);
    while (!r.ended)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_int_equal(r.n_logs, 11);
    assert_non_null(strstr(
        r.logs.ptr,
        "0123456789\n[further console output was dropped: the limit is 100 bytes (limits.logBytes)]\n"));
    cm_buf_done(&r.logs);
    close_world(&w);
}

static void too_many_calls_at_once_end_the_pass_with_advice(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop};

    start(w.sb, &r, "test", "return Promise.all(Array.from({length: 40}, (_, i) => svc.get({i})))", NULL);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "calls_in_flight_limit",
               "more than 32 calls unanswered at once (limits.callsInFlight)");
    r = (struct run){.loop = w.loop};
    start(w.sb, &r, "test",
          "for (let i = 0; i < 200; i++) setTimeout(() => {}, 1000); await new Promise(() => {})", NULL);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "timers_limit", "more than 100 timers");
    close_world(&w);
}

static void the_stack_ends_where_it_should_in_every_kind_of_worker(void **state)
{
    static const struct cm_sandbox_opts kinds[] = {
        {.pool_size = 1, .isolation = "realm"},   {.pool_size = 1, .isolation = "vm"},
        {.pool_size = 1, .isolation = "process"}, {.pool_size = 1, .no_jit = true},
        {.pool_size = 1, .stack_kb = 8192},
    };
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    (void)state;
    limits.stack_kb = 256;
    for (size_t i = 0; i < CM_ARRAY_LEN(kinds); i++) {
        struct world w = open_world(&kinds[i]);
        /* Twice: where a VM of its own is made for each pass, the second pass has another one. */
        for (int pass = 0; pass < 2; pass++) {
            struct run r =
                run(w.loop, w.sb, "const f = n => (n ? 1 + f(n - 1) : 0); return f(1500)", &limits);
            if (r.kind != CM_PASS_COMPLETED)
                fail_msg("kind of worker %zu: '%s' '%s'", i, r.code, r.meta);
            r = run(w.loop, w.sb, "const f = n => (n ? 1 + f(n - 1) : 0); return f(5000)", &limits);
            expect_end(&r, CM_PASS_THREW, "stack_limit", "its 256 KB of stack allow (limits.stackKb)");
            /* Every turn has it, and after an await it is whole again. */
            r = run(w.loop, w.sb,
                    "const f = n => (n ? 1 + f(n - 1) : 0); let n = 0; try { f(5000) } catch { n++ } await "
                    "svc.get({}); "
                    "n += f(1500); try { f(5000) } catch { n++ } return n",
                    &limits);
            if (!cm_z_eq(r.value, "1502"))
                fail_msg("kind of worker %zu: '%s' '%s' '%s'", i, r.value, r.code, r.meta);
        }
        close_world(&w);
    }
}

static void a_cleared_timer_stays_silent_although_its_outcome_is_on_its_way(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r = {.loop = w.loop, .answer = true}; /* the outcome is sent before the clearing is read */

    start(w.sb, &r, "test",
          "clearTimeout(setTimeout(() => console.log('fired'), 1000)); await svc.get({}); await svc.get({}); "
          "return 1",
          NULL);
    while (!r.ended)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_int_equal(r.n_logs, 0);
    assert_int_equal(r.n_calls, 3);
    cm_buf_done(&r.logs);
    close_world(&w);
}

static void a_value_larger_than_a_frame_ends_the_pass_before_it_is_read(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.frame_bytes = 1u << 20;
    struct run r = run(w.loop, w.sb, "return 'x'.repeat(2000000)", &limits);
    expect_end(&r, CM_PASS_LIMIT, "frame_limit", "larger than 1048576 bytes (limits.frameBytes)");
    expect(w.loop, w.sb, "return 'x'.repeat(10)", "\"xxxxxxxxxx\"");
    close_world(&w);
}

/** How many calls a program has made by the time its CPU limit ends it. */
static unsigned calls_before_the_limit(struct world *w, const char *program)
{
    struct run r = {.loop = w->loop, .answer = true};
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 50;
    start(w->sb, &r, "test", program, &limits);
    finish(&r);
    expect_end(&r, CM_PASS_LIMIT, "cpu_limit", "limits.cpuMs");
    return r.n_calls;
}

static void calls_of_a_turn_go_out_at_its_end_or_with_what_follows_them(void **state)
{
    (void)state;
    struct world w = open_world(NULL);

    expect(w.loop, w.sb, "return 1", "1");
    assert_int_equal(calls_before_the_limit(&w, "svc.a({}); while (true) {}"), 0);
    assert_int_equal(calls_before_the_limit(&w, "svc.a({}); console.log('x'); while (true) {}"), 1);
    assert_int_equal(calls_before_the_limit(&w, "await svc.a({}); while (true) {}"), 1);
    /* The second finds the first waiting for too long, and takes it along. */
    assert_int_equal(
        calls_before_the_limit(&w, "svc.a({}); for (let i = 0; i < 5e6; i++); svc.b({}); while (true) {}"),
        2);
    expect(w.loop, w.sb, "return (await Promise.all(Array.from({ length: 30 }, () => svc.a({})))).length",
           "30");
    close_world(&w);
}

/** With an argument: only the tests whose name matches it. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_loop_ends_near_its_cpu_limit_while_others_run_on),
        cmocka_unit_test(a_loop_in_a_builtin_is_stopped_too),
        cmocka_unit_test(the_kernel_ends_a_spinning_worker_when_the_host_is_held_up),
        cmocka_unit_test(what_was_logged_is_kept_although_the_host_had_not_read_it),
        cmocka_unit_test(time_spent_waiting_for_a_call_is_not_the_programs),
        cmocka_unit_test(a_program_stopped_from_outside_meets_the_wall_limit),
        cmocka_unit_test(a_program_may_use_memory_up_to_its_limit),
        cmocka_unit_test(console_output_is_kept_up_to_its_limit_and_then_one_line_says_so),
        cmocka_unit_test(too_many_calls_at_once_end_the_pass_with_advice),
        cmocka_unit_test(the_stack_ends_where_it_should_in_every_kind_of_worker),
        cmocka_unit_test(a_cleared_timer_stays_silent_although_its_outcome_is_on_its_way),
        cmocka_unit_test(a_value_larger_than_a_frame_ends_the_pass_before_it_is_read),
        cmocka_unit_test(calls_of_a_turn_go_out_at_its_end_or_with_what_follows_them),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("sandbox limits", tests, NULL, NULL);
}
