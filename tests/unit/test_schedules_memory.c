/**
 * Schedules (test_schedules.c) in which the n-th allocation fails: of the database, which then says so, or of anybody. What our own code needs
 * for its own small sizes ends the process (base/mem.h), which is a stop like any other: the next process goes on, and the end is the same.
 */
#include "sched_run.h"

#define ALLOC_STEP 307

static void the_database_gets_no_memory(void **state)
{
    struct plan plan = {.fail_once = true};

    (void)state;
    every(&plan, &plan.fail_memory_at, 211);
}

#if !CM_SANITIZED
static void nobody_gets_memory(void **state)
{
    struct plan plan = {.fail_once = true};

    (void)state;
    every(&plan, &plan.fail_alloc_at, ALLOC_STEP);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_database_gets_no_memory),
#if !CM_SANITIZED
        cmocka_unit_test(nobody_gets_memory),
#endif
    };

    if (!open_outside(argc, argv))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
