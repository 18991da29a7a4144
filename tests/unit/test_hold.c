/** Passes that wait for a human: their clocks stand still, and their worker is the first to go. */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "sandbox_run.h"

#include <dirent.h>
#include <signal.h>

#define ASKS "const a = await svc.ask({}); const t = Date.now(); return a + t"

static void begin_held(struct world *w, struct run *r, const char *runtime, const struct cm_limits *limits)
{
    *r = (struct run){.loop = w->loop};
    start(w->sb, r, runtime, ASKS, limits);
    while (r->n_waits == 0)
        assert_true(cm_loop_once(w->loop));
    cm_pass_hold(r->pass);
}

static void answer(struct run *r)
{
    cm_pass_deliver(r->pass, 1, false, false, (struct cm_value){.json = CM_STR("1")}, 1700000000500, 1);
}

static void fires(void *user)
{
    *(bool *)user = true;
}

/** The loop goes on for so long. */
static void let_pass(cm_loop *loop, uint64_t ms)
{
    bool fired = false;
    cm_timer *t = cm_timer_new(loop, fires, &fired);

    cm_timer_start(t, ms);
    while (!fired)
        assert_true(cm_loop_once(loop));
    cm_timer_free(t);
}

static void no_limit_on_time_counts_while_a_pass_is_held(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    struct run r;

    /* Far more than a start takes on a busy machine, and less than what passes while it is held. */
    limits.wall_ms = 1000;
    limits.cpu_ms = 1000;
    limits.deadline_ms = 2000;
    begin_held(&w, &r, "a", &limits);
    let_pass(w.loop, 2200);
    assert_false(r.ended);
    assert_true(cm_pass_release(r.pass));
    answer(&r);
    finish(&r);
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    assert_string_equal(r.value, "1700000000501");
    close_world(&w);
}

static void the_deadline_goes_on_from_where_it_stood(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    struct run r;

    limits.deadline_ms = 1500;
    begin_held(&w, &r, "a", &limits);
    let_pass(w.loop, 1600);
    int64_t at = cm_mono_ms();
    assert_true(cm_pass_release(r.pass));
    finish(&r); /* nobody answers */
    expect_end(&r, CM_PASS_LIMIT, "deadline", "1 call was unanswered");
    assert_in_range(cm_mono_ms() - at, 1, 60000);
    close_world(&w);
}

static void the_worker_of_a_held_pass_goes_to_whoever_needs_one(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1});
    struct run held, other = {.loop = w.loop, .answer = true};

    begin_held(&w, &held, "a", NULL);
    start(w.sb, &other, "a", "return await svc.x({})", NULL);
    assert_false(held.ended); /* no event from inside the start */
    assert_false(cm_pass_release(held.pass));
    answer(&held); /* comes too late, and is no fault */
    finish(&other);
    assert_int_equal(other.kind, CM_PASS_COMPLETED);
    finish(&held);
    expect_end(&held, CM_PASS_EVICTED, "evicted", "goes on from its record");
    close_world(&w);
}

static void what_was_released_keeps_its_worker(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1});
    struct run held, other = {.loop = w.loop, .answer = true};

    begin_held(&w, &held, "a", NULL);
    assert_true(cm_pass_release(held.pass));
    start(w.sb, &other, "a", "return await svc.x({})", NULL);
    answer(&held);
    finish(&held);
    assert_int_equal(held.kind, CM_PASS_COMPLETED);
    finish(&other);
    assert_int_equal(other.kind, CM_PASS_COMPLETED);
    close_world(&w);
}

static void of_several_the_one_held_longest_goes_first_and_no_more_than_needed(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 3});
    struct run held[3], other = {.loop = w.loop, .answer = true};

    for (size_t i = 0; i < 3; i++) {
        begin_held(&w, &held[i], i == 1 ? "b" : "a", NULL);
        let_pass(w.loop, 2); /* the clock has milliseconds */
    }
    start(w.sb, &other, "b", "return await svc.x({})", NULL);
    finish(&other);
    assert_int_equal(other.kind, CM_PASS_COMPLETED);
    finish(&held[0]);
    expect_end(&held[0], CM_PASS_EVICTED, "evicted", "");
    for (size_t i = 1; i < 3; i++) {
        assert_true(cm_pass_release(held[i].pass));
        answer(&held[i]);
        finish(&held[i]);
        assert_int_equal(held[i].kind, CM_PASS_COMPLETED);
    }
    close_world(&w);
}

static void a_pass_that_is_held_gives_way_to_one_that_waited_already(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1});
    struct run held = {.loop = w.loop}, other = {.loop = w.loop, .answer = true};

    start(w.sb, &held, "a", ASKS, NULL);
    while (held.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    start(w.sb, &other, "b", "return await svc.x({})", NULL);
    let_pass(w.loop, 20);
    assert_int_equal(cm_pass_pid(other.pass), 0);
    cm_pass_hold(held.pass);
    finish(&other);
    assert_int_equal(other.kind, CM_PASS_COMPLETED);
    finish(&held);
    expect_end(&held, CM_PASS_EVICTED, "evicted", "");
    close_world(&w);
}

static void a_worker_that_dies_while_its_pass_is_held_says_so(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    struct run r;

    begin_held(&w, &r, "a", NULL);
    assert_int_equal(kill(await_pid(&r), SIGKILL), 0);
    finish(&r);
    expect_end(&r, CM_PASS_CRASHED, "crashed", "");
    close_world(&w);
}

static unsigned count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

enum { CROWD = 200, WORKERS = 4 };

static void two_hundred_held_passes_take_no_more_than_the_workers_there_are(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = WORKERS});
    struct run *held = cm_calloc(CROWD, sizeof *held);
    unsigned fds = 0, n_live = 0;

    for (size_t i = 0; i < CROWD; i++) {
        begin_held(&w, &held[i], "a", NULL);
        if (i == WORKERS)
            fds = count_fds();
    }
    let_pass(w.loop, 1);
    assert_in_range(count_fds(), 1, fds + 8);
    for (size_t i = 0; i < CROWD; i++) {
        n_live += !held[i].ended;
        if (held[i].ended)
            assert_int_equal(held[i].kind, CM_PASS_EVICTED);
    }
    assert_in_range(n_live, 1, WORKERS);
    close_world(&w); /* the others end with it, as cancelled */
    for (size_t i = 0; i < CROWD; i++) {
        assert_true(held[i].ended);
        cm_buf_done(&held[i].logs);
    }
    free(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_on_time_counts_while_a_pass_is_held),
        cmocka_unit_test(the_deadline_goes_on_from_where_it_stood),
        cmocka_unit_test(the_worker_of_a_held_pass_goes_to_whoever_needs_one),
        cmocka_unit_test(what_was_released_keeps_its_worker),
        cmocka_unit_test(of_several_the_one_held_longest_goes_first_and_no_more_than_needed),
        cmocka_unit_test(a_pass_that_is_held_gives_way_to_one_that_waited_already),
        cmocka_unit_test(a_worker_that_dies_while_its_pass_is_held_says_so),
        cmocka_unit_test(two_hundred_held_passes_take_no_more_than_the_workers_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
