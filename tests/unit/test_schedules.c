/**
 * Schedules: the process ends after every single effect of a scenario (sched_world.h), another one opens the store and goes on, and the end
 * is the same: the same outcome, and every effect of a tool that may not run twice done once, or somebody was asked about it.
 *
 * A scenario is a file of tests/cases/schedules: a program (scripted.h), what people do, the outcome, and what the unsafe tools have done
 * then. Each schedule is a chain of processes, forked from here; what they do outside of themselves is in memory that they share.
 */
#include "sched_run.h"

static void undisturbed(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scenarios; i++) {
        sc = &scenarios[i];
        (void)run_schedule(&(struct plan){.keep = false, .look = true});
        (void)run_schedule(&(struct plan){.keep = true, .look = true});
    }
}

static void stopped_after_every_effect(void **state)
{
    struct plan plan = {.keep = false};

    (void)state;
    every(&plan, &plan.crash_at, 1);
}

static void stopped_where_paused_runs_go_on_in_place(void **state)
{
    struct plan plan = {.keep = true};

    (void)state;
    every(&plan, &plan.crash_at, 3);
}

static void stopped_without_what_was_not_synced(void **state)
{
    struct plan plan = {.power = true};

    (void)state;
    every(&plan, &plan.crash_at, 3);
}

static void stopped_again_while_going_on(void **state)
{
    struct plan plan = {.crash_again_at = 0};

    (void)state;
    for (plan.crash_again_at = 5; plan.crash_again_at < 40; plan.crash_again_at += 13)
        every(&plan, &plan.crash_at, 13);
}

static void a_write_fails(void **state)
{
    static const int errors[] = {ENOSPC, EIO};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(errors); i++) {
        struct plan plan = {.fail_errno = errors[i], .fail_once = i == 1};

        every(&plan, &plan.fail_io_at, 9);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undisturbed),
        cmocka_unit_test(stopped_after_every_effect),
        cmocka_unit_test(stopped_where_paused_runs_go_on_in_place),
        cmocka_unit_test(stopped_without_what_was_not_synced),
        cmocka_unit_test(stopped_again_while_going_on),
        cmocka_unit_test(a_write_fails),
    };

    if (!open_outside(argc, argv))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
