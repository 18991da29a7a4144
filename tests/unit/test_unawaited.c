/**
 * Calls that a program did not await, with a sandbox that the test plays itself: what is waited for after the
 * program's end, for how long, and what becomes of the rest.
 */
#include "exec_world.h"

/** The worker says that the program has ended and that it stands still. */
static void fake_ended(bool failed)
{
    fake->ev.on_ended(fake->user, fake, failed);
    fake_wait();
}

static void a_call_with_effects_is_waited_for(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(false);
    assert_false(fake->finished);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    (void)delivered(w, 1);
    /* What awaited it goes on: another call, which is made. */
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 1);
    fake_ended(false);
    assert_false(fake->finished);
    cm_native_reply_json(cm_steal(&w->kept[1]), CM_STR("2"));
    (void)delivered(w, 2);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_APPLIED);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_APPLIED);
}

static void what_takes_longer_than_unawaited_ms_is_given_up(void **state)
{
    struct world *w = *state;

    limits.unawaited_ms = 30;
    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(false);
    assert_false(fake->finished);
    WAIT_WHILE(w, !fake->finished);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    HAS(w, "local.keep (line 2) was still running when the run ended and was cancelled; it may have taken");
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_UNKNOWN);
}

static void the_result_is_there_before_the_deadline(void **state)
{
    struct world *w = *state;

    limits.deadline_ms = 100;
    start(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(false);
    WAIT_WHILE(w, !fake->finished);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void nobody_is_asked_for_what_nobody_waits_for(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    fake_call(CM_CALL_TIMER, "", "", "60000");
    fake_ended(false);
    assert_true(fake->finished);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    LACKS(w, "\"pending\":");
    HAS(w, "local.wipe (line 2) was waiting for approval when the program ended: it was withdrawn");
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_CANCELLED);
}

static void a_failed_program_waits_for_effects_only(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "keep_read", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(true);
    assert_true(fake->finished);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"x\"}}");
    assert_int_equal(w->state, CM_EXEC_ERROR);
    start(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 1);
    fake_ended(true);
    assert_false(fake->finished);
    cm_native_reply_json(cm_steal(&w->kept[1]), CM_STR("1"));
    (void)delivered(w, 1);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"x\"}}");
    assert_int_equal(w->state, CM_EXEC_ERROR);
}

static void what_was_queued_is_not_sent_after_a_failure(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 1;
    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    fake_tool("local", "echo", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(true);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    (void)delivered(w, 1);
    fake_ended(true);
    assert_true(fake->finished);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"x\"}}");
    assert_int_equal(w->ran, 1);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_CANCELLED);
}

static void what_was_queued_is_sent_after_a_normal_end(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 1;
    start(w);
    fake_tool("local", "keep", "{}");
    fake_tool("local", "echo", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(false);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    (void)delivered(w, 2);
    end_normally(w);
    assert_int_equal(w->ran, 2);
}

static void a_run_that_is_cancelled_meanwhile_is_cancelled(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake_ended(false);
    cm_exec_cancel(w->exec);
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_UNKNOWN);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_call_with_effects_is_waited_for),          T(what_takes_longer_than_unawaited_ms_is_given_up),
        T(the_result_is_there_before_the_deadline),    T(nobody_is_asked_for_what_nobody_waits_for),
        T(a_failed_program_waits_for_effects_only),    T(what_was_queued_is_not_sent_after_a_failure),
        T(what_was_queued_is_sent_after_a_normal_end), T(a_run_that_is_cancelled_meanwhile_is_cancelled),
    };

    return cmocka_run_group_tests_name("unawaited", tests, NULL, NULL);
}
