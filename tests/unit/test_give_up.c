/**
 * Calls that their program gave up, as a fetch whose signal was aborted, with a sandbox that the test plays itself: what becomes of them
 * upstream and in the record, wherever they are then.
 */
#include "exec_world.h"

static void give_up(uint32_t id)
{
    fake->ev.on_cancel(fake->user, fake, id);
}

static void starts(struct world *w)
{
    start(w);
    id_of(w);
}

static void what_was_sent_is_stopped_and_may_have_taken_effect(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    starts(w);
    uint32_t send = fake_tool("local", "keep", "{}"), read = fake_tool("local", "keep_read", "{}");
    WAIT_WHILE(w, w->n_kept < 2);
    give_up(send);
    give_up(send);
    assert_int_equal(fake->n_got, 0); /* never from inside */
    d = delivered(w, 1);
    assert_int_equal(d->id, send);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "\"code\":\"unknown\""));
    assert_non_null(
        strstr(d->json, "local.keep was aborted by the program after it had been sent: it may have taken"));
    give_up(read);
    d = delivered(w, 2);
    assert_non_null(strstr(d->json, "\"code\":\"cancelled\""));
    assert_non_null(strstr(d->json, "local.keep_read was aborted by the program."));
    /* Its tool answers late. */
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    cm_loop_nowait(w->loop);
    assert_int_equal(fake->n_got, 2);
    give_up(send); /* known no more */
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_UNKNOWN);
    assert_int_equal(record(w, last_id, 0).delivery, 1);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_CANCELLED);
}

static void an_answer_that_is_on_its_way_stands(void **state)
{
    struct world *w = *state;

    starts(w);
    uint32_t id = fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("7"));
    give_up(id);
    assert_string_equal(delivered(w, 1)->json, "7");
    end_normally(w);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_APPLIED);
}

static void what_had_not_been_sent_never_is(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 1;
    starts(w);
    uint32_t first = fake_tool("local", "keep_read", "{}"),
             second = fake_tool("local", "strict", "{\"n\":1}");
    WAIT_WHILE(w, w->n_kept == 0);
    give_up(second);
    assert_int_equal(delivered(w, 1)->id, second);
    assert_non_null(strstr(fake->got[0].json, "local.strict was aborted by the program before it was sent."));
    /* The slot of one that is given up is another's. */
    uint32_t third = fake_tool("local", "echo", "{}");
    give_up(first);
    assert_int_equal(delivered(w, 3)->id, third);
    assert_int_equal(w->ran, 2);
    end_normally(w);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_CANCELLED);
    HAS(w, "\"method\":\"strict\",\"args\":{\"n\":1},\"state\":\"cancelled\",\"error\":");
}

static void what_waits_for_a_human_is_withdrawn(void **state)
{
    struct world *w = *state;

    starts(w);
    uint32_t id = fake_tool("local", "wipe", "{}");
    cm_loop_nowait(w->loop);
    settle();
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_PENDING);
    give_up(id);
    assert_non_null(strstr(delivered(w, 1)->json, "before it was sent"));
    fake_wait();
    cm_loop_nowait(w->loop);
    assert_false(w->ended); /* nothing is left to pause for */
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_CANCELLED);
    assert_int_equal(w->ran, 0);
}

static void ignore(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    (void)user, (void)state, (void)json, (void)err;
}

/** Whoever decides in the same turn of the loop, before or after. */
static void a_decision_stands_beside_it(void **state)
{
    struct world *w = *state;
    const uint32_t seqs[] = {0};

    for (int approved = 0; approved < 2; approved++) {
        for (int first = 0; first < 2; first++) {
            struct cm_decide d = {.seqs = seqs, .n_seqs = 1, .by = "a test"};
            struct cm_err err = {0};

            starts(w);
            d.id = last_id;
            uint32_t id = fake_tool("local", "wipe", "{}");
            if (first)
                give_up(id);
            assert_int_equal(approved ? cm_runtime_approve(w->rt, &d, ignore, NULL, &w->exec, &err)
                                      : cm_runtime_reject(w->rt, &d, ignore, NULL, &w->exec, &err),
                             CM_OK);
            if (!first)
                give_up(id);
            assert_true(delivered(w, 1)->failed);
            assert_non_null(
                strstr(fake->got[0].json, approved ? "\"code\":\"cancelled\"" : "\"code\":\"rejected\""));
            end_normally(w);
            assert_int_equal(record(w, last_id, 0).state, approved ? CM_CALL_CANCELLED : CM_CALL_REJECTED);
            assert_int_equal(w->ran, 0);
        }
    }
}

static void steps_questions_and_the_dead_are_not_given_up(void **state)
{
    struct world *w = *state;

    starts(w);
    uint32_t step = fake_call(CM_CALL_STEP, "", "s", "null");
    give_up(step);
    give_up(77);
    assert_true(fake->got[0].execute);
    cm_exec_cancel(w->exec);
    give_up(step);
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_was_sent_is_stopped_and_may_have_taken_effect),
        T(an_answer_that_is_on_its_way_stands),
        T(what_had_not_been_sent_never_is),
        T(what_waits_for_a_human_is_withdrawn),
        T(a_decision_stands_beside_it),
        T(steps_questions_and_the_dead_are_not_given_up),
    };

    return cmocka_run_group_tests_name("give up", tests, NULL, NULL);
}
