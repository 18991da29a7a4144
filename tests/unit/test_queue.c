/** Programs that wait for a worker: whose turn it is, how many may wait, and what is made before any does. */
#include "sandbox/internal.h"

#include "sandbox_run.h"

#define RUNS_MAX 64

/** Runs of several runtimes, and the order in which they came to run. */
struct crowd {
    struct world w;
    struct run runs[RUNS_MAX];
    const char *names[RUNS_MAX];
    size_t n;
};

static char order[RUNS_MAX + 1];
static size_t n_order;
static const struct crowd *present;

/** A program's first call says that it runs: its runtime's letter is noted. */
static void note_turn(struct run *r)
{
    order[n_order++] = present->names[r - present->runs][0];
    order[n_order] = '\0';
}

static struct run *add(struct crowd *c, const char *runtime)
{
    struct run *r = &c->runs[c->n];

    assert_true(c->n < RUNS_MAX);
    *r = (struct run){.loop = c->w.loop, .answer = true, .at_call = note_turn};
    c->names[c->n++] = runtime;
    start(c->w.sb, r, runtime, "await svc.x({}); return 1", NULL);
    return r;
}

static void open_crowd(struct crowd *c, const struct cm_sandbox_opts *opts)
{
    *c = (struct crowd){.w = open_world(opts)};
    present = c;
    n_order = 0;
    order[0] = '\0';
}

static void finish_crowd(struct crowd *c)
{
    for (size_t i = 0; i < c->n; i++) {
        finish(&c->runs[i]);
        assert_int_equal(c->runs[i].kind, CM_PASS_COMPLETED);
    }
    close_world(&c->w);
}

/** Whether a program of the runtime waits for a worker. */
static bool waits(const struct crowd *c, const char *runtime)
{
    const struct cm_lane *lane = c->w.sb->lanes;

    while (lane && !cm_z_eq(lane->name, runtime))
        lane = lane->next;
    return lane && lane->n_waiting > 0;
}

static void with_one_worker_the_runtimes_take_turns(void **state)
{
    (void)state;
    static const char asked[] = "aaaaaabbbc";
    struct crowd c;

    open_crowd(&c, &(struct cm_sandbox_opts){.max_workers = 1});
    for (const char *p = asked; *p; p++)
        (void)add(&c, *p == 'a' ? "a" : *p == 'b' ? "b" : "c");
    finish_crowd(&c);
    assert_string_equal(order, "abcababaaa");
}

static void a_runtime_with_many_programs_does_not_hold_up_the_first_of_another(void **state)
{
    (void)state;
    struct crowd c;

    open_crowd(&c, &(struct cm_sandbox_opts){.max_workers = 1});
    for (int i = 0; i < 40; i++)
        (void)add(&c, "a");
    while (n_order < 5)
        assert_true(cm_loop_once(c.w.loop));
    size_t came = n_order;
    (void)add(&c, "b");
    finish_crowd(&c);
    size_t at = (size_t)(strchr(order, 'b') - order);
    print_message("# asked for after %zu of 40 programs had begun, it was number %zu\n", came, at + 1);
    assert_in_range(at, came, came + 2);
}

static void runtimes_that_come_back_again_and_again_do_not_pass_one_that_waits(void **state)
{
    (void)state;
    static const char *const busy[] = {"a", "c", "d"};
    struct run *last[3];
    struct crowd c;

    open_crowd(&c, &(struct cm_sandbox_opts){.max_workers = 1});
    for (size_t i = 0; i < 3; i++)
        last[i] = add(&c, busy[i]);
    for (int i = 0; i < 4; i++)
        (void)add(&c, "b");
    /* Each of the three asks again the moment it has its answer: one of each always waits. */
    while (c.n < 40) {
        assert_true(cm_loop_once(c.w.loop));
        for (size_t i = 0; i < 3; i++)
            if (last[i]->ended && c.n < 40)
                last[i] = add(&c, busy[i]);
    }
    finish_crowd(&c);
    print_message("# %s\n", order);
    assert_in_range(strrchr(order, 'b') - order, 0, 20);
}

static void workers_that_are_shared_evenly_stay_where_they_are(void **state)
{
    (void)state;
    struct crowd c;

    open_crowd(&c, &(struct cm_sandbox_opts){.max_workers = 2});
    (void)add(&c, "a");
    (void)add(&c, "b");
    while (n_order < 2)
        assert_true(cm_loop_once(c.w.loop));
    uint64_t made = c.w.sb->next_serial;
    for (int i = 0; i < 40; i++)
        (void)add(&c, i < 20 ? "a" : "b");
    /* A new process costs more than all of these programs. Once one of the two has nothing to run, it may give way. */
    while (waits(&c, "a") && waits(&c, "b")) {
        assert_int_equal(c.w.sb->next_serial, made);
        assert_true(cm_loop_once(c.w.loop));
    }
    finish_crowd(&c);
    print_message("# %s\n", order);
}

static void programs_that_end_in_a_moment_go_through_a_few_workers(void **state)
{
    (void)state;
    enum { N = 60 };
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1});
    struct run runs[N];

    w.sb->n_processors = 1;
    for (size_t i = 0; i < N; i++) {
        runs[i] = (struct run){.loop = w.loop};
        start(w.sb, &runs[i], "a", "return 1", NULL);
    }
    for (size_t i = 0; i < N; i++) {
        finish(&runs[i]);
        assert_int_equal(runs[i].kind, CM_PASS_COMPLETED);
    }
    print_message("# %u programs at once: %u workers were asked for\n", (unsigned)N,
                  (unsigned)w.sb->next_serial);
    /* On a busy machine a program may take longer than a moment, and then one more begins. */
    assert_in_range(w.sb->next_serial, 1, N / 3);
    close_world(&w);
}

static void programs_that_compute_for_long_hold_up_nobody(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1});
    struct run spins[6], quick = {.loop = w.loop};

    w.sb->n_processors = 1;
    for (size_t i = 0; i < CM_ARRAY_LEN(spins); i++) {
        spins[i] = (struct run){.loop = w.loop};
        start(w.sb, &spins[i], "a", "for (;;);", NULL);
    }
    start(w.sb, &quick, "a", "return 1", NULL);
    finish(&quick);
    assert_int_equal(quick.kind, CM_PASS_COMPLETED);
    for (size_t i = 0; i < CM_ARRAY_LEN(spins); i++) {
        assert_false(spins[i].ended);
        cm_pass_stop(spins[i].pass, CM_PASS_CANCELLED, "cancelled", "enough");
        finish(&spins[i]);
    }
    close_world(&w);
}

/** Answer each that waits, before the pool is looked at again. */
static void answer_callers(struct run *callers, unsigned *answered, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (callers[i].n_waits == answered[i])
            continue;
        answered[i]++;
        cm_pass_deliver(callers[i].pass, answered[i], false, false, (struct cm_value){.json = CM_STR("0")},
                        1700000000001, answered[i]);
    }
}

/** Each of their stretches is a moment, and all of them together are not. */
static void programs_that_call_all_the_time_hold_up_nobody(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1});
    struct run callers[4], quick = {.loop = w.loop};
    unsigned answered[4] = {0};

    w.sb->n_processors = 1;
    for (size_t i = 0; i < CM_ARRAY_LEN(callers); i++) {
        callers[i] = (struct run){.loop = w.loop};
        start(w.sb, &callers[i], "a", "for (;;) { await svc.x({}); for (let i = 0; i < 1e5; i++); }", NULL);
    }
    while (!quick.ended) {
        assert_true(cm_loop_once(w.loop));
        answer_callers(callers, answered, CM_ARRAY_LEN(callers));
        /* Once as many call as may begin at once. */
        if (!quick.pass && !quick.ended && callers[0].n_waits && callers[1].n_waits)
            start(w.sb, &quick, "b", "return 1", NULL);
    }
    assert_int_equal(quick.kind, CM_PASS_COMPLETED);
    for (size_t i = 0; i < CM_ARRAY_LEN(callers); i++) {
        assert_false(callers[i].ended);
        cm_pass_stop(callers[i].pass, CM_PASS_CANCELLED, "cancelled", "enough");
        finish(&callers[i]);
    }
    close_world(&w);
}

/** Workers that a runtime has, those on their way out left away: one that has outgrown its start may be replaced meanwhile. */
static unsigned count_bound(const struct world *w)
{
    unsigned n = 0;

    for (const struct cm_worker *k = w->sb->workers; k; k = k->next)
        n += k->lane && k->state != CM_WORKER_DYING && k->state != CM_WORKER_GONE;
    return n;
}

/** With as many workers as there may be, a busy runtime leaves the other one to the next. */
static void the_last_worker_is_not_taken_as_a_second_one(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 2, .pool_size = 2});

    for (int i = 0, after = 0; after < 50; i++) {
        expect(w.loop, w.sb, "return 1", "1");
        assert_true(i < 100000 && "one to take, as soon as there is one");
        assert_int_equal(count_bound(&w), 1);
        for (const struct cm_worker *k = w.sb->workers; k; k = k->next)
            after += k->lane == NULL && k->state == CM_WORKER_READY;
    }
    close_world(&w);
}

/** Many that waited for a human, given up at once: two of their workers stay for the runtime's next programs. */
static void of_many_programs_that_are_dropped_two_leave_their_worker(void **state)
{
    enum { MANY = 5 };
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 8, .pool_size = 2});
    struct run runs[MANY];

    for (size_t i = 0; i < MANY; i++) {
        runs[i] = (struct run){.loop = w.loop};
        start(w.sb, &runs[i], "test", "await svc.x({})", NULL);
    }
    for (size_t i = 0; i < MANY; i++) {
        while (runs[i].n_waits == 0)
            assert_true(cm_loop_once(w.loop));
    }
    assert_int_equal(count_bound(&w), MANY);
    for (size_t i = 0; i < MANY; i++)
        cm_pass_stop(runs[i].pass, CM_PASS_CANCELLED, "cancelled", "enough");
    for (size_t i = 0; i < MANY; i++)
        finish(&runs[i]);
    assert_true(count_bound(&w) <= 2);
    close_world(&w);
}

/** Of runs that follow each other without a pause; the first may come before the pool is filled. */
static void a_runtime_takes_a_second_worker_while_its_own_tidies_up_and_never_a_third(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 8, .pool_size = 3});

    for (int i = 0, after = 0; after < 50; i++) {
        expect(w.loop, w.sb, "return 1", "1");
        assert_true(i < 100000 && "a second one, as soon as there is one");
        assert_in_range(count_bound(&w), 1, 2);
        after += after > 0 || count_bound(&w) == 2;
    }
    close_world(&w);
}

static void a_runtime_whose_queue_is_full_is_refused_and_others_are_not(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.max_workers = 1, .max_queued = 2});
    struct run busy = {.loop = w.loop};
    struct run waiting[3] = {{.loop = w.loop}, {.loop = w.loop}, {.loop = w.loop}};
    struct cm_pass_spec spec = {.runtime = "a", .source = CM_STR("return 1"), .limits = CM_LIMITS_DEFAULT};
    struct run refused = {.loop = w.loop};
    struct cm_err err = {0};

    start(w.sb, &busy, "a", "return svc.x({})", NULL);
    (void)await_pid(&busy);
    start(w.sb, &waiting[0], "a", "return 1", NULL);
    assert_int_equal(cm_sandbox_admits(w.sb, "a", &err), CM_OK);
    start(w.sb, &waiting[1], "a", "return 2", NULL);
    assert_int_equal(cm_sandbox_admits(w.sb, "a", &err), CM_E_LIMIT);
    assert_int_equal(cm_sandbox_start(w.sb, &spec, &events, &refused, &refused.pass, &err), CM_E_LIMIT);
    assert_non_null(strstr(err.message, "2 programs of runtime 'a' already wait"));
    assert_non_null(strstr(err.message, "(maxQueued)"));
    start(w.sb, &waiting[2], "b", "return 3", NULL);
    while (busy.n_waits == 0)
        assert_true(cm_loop_once(w.loop));
    cm_pass_deliver(busy.pass, 1, false, false, (struct cm_value){.json = CM_STR("0")}, 1700000000001, 1);
    finish(&busy);
    for (size_t i = 0; i < 3; i++) {
        finish(&waiting[i]);
        assert_int_equal(waiting[i].kind, CM_PASS_COMPLETED);
    }
    assert_false(refused.ended);
    expect(w.loop, w.sb, "return 4", "4");
    close_world(&w);
}

static void on_demand_the_first_pass_starts_what_it_needs(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.on_demand = true});
    uint64_t layers = 0;

    assert_int_equal(w.sb->zygote.pid, 0);
    assert_int_equal(cm_sandbox_layers(w.sb, &layers, NULL), CM_E_UNAVAILABLE);
    for (int i = 0; i < 2; i++) {
        struct run r = run(w.loop, w.sb, "return 6 * 7", NULL);
        assert_int_equal(r.kind, CM_PASS_COMPLETED);
        assert_string_equal(r.value, "42");
        assert_int_not_equal(w.sb->zygote.pid, 0);
    }
    close_world(&w);
    w = open_world(&(struct cm_sandbox_opts){.on_demand = true});
    close_world(&w);
}

static void one_shot_no_worker_is_made_while_the_first_runs_a_program(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.one_shot = true});
    struct run r = {.loop = w.loop};

    start(w.sb, &r, "test", "return await svc.go()", NULL);
    while (!r.n_waits)
        assert_true(cm_loop_once(w.loop));
    assert_false(w.sb->refill_armed);
    assert_int_equal(w.sb->next_serial, 1);
    cm_pass_stop(r.pass, CM_PASS_CANCELLED, "cancelled", "enough");
    finish(&r);
    r = run(w.loop, w.sb, "return 1", NULL); /* one more is made where it is needed after all */
    assert_int_equal(r.kind, CM_PASS_COMPLETED);
    close_world(&w);
}

/** With an argument: only the tests whose name matches it. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_worker_the_runtimes_take_turns),
        cmocka_unit_test(a_runtime_with_many_programs_does_not_hold_up_the_first_of_another),
        cmocka_unit_test(runtimes_that_come_back_again_and_again_do_not_pass_one_that_waits),
        cmocka_unit_test(workers_that_are_shared_evenly_stay_where_they_are),
        cmocka_unit_test(programs_that_end_in_a_moment_go_through_a_few_workers),
        cmocka_unit_test(programs_that_compute_for_long_hold_up_nobody),
        cmocka_unit_test(programs_that_call_all_the_time_hold_up_nobody),
        cmocka_unit_test(the_last_worker_is_not_taken_as_a_second_one),
        cmocka_unit_test(of_many_programs_that_are_dropped_two_leave_their_worker),
        cmocka_unit_test(a_runtime_takes_a_second_worker_while_its_own_tidies_up_and_never_a_third),
        cmocka_unit_test(a_runtime_whose_queue_is_full_is_refused_and_others_are_not),
        cmocka_unit_test(on_demand_the_first_pass_starts_what_it_needs),
        cmocka_unit_test(one_shot_no_worker_is_made_while_the_first_runs_a_program),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
