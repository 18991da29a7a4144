/**
 * A run that goes on from its record, with a sandbox that the test plays itself: what is given again, what is sent, what is asked about,
 * and what is refused before anything changes. The real worker is in test_again.c.
 */
#include "exec_world.h"

#include <stdarg.h>

/** Another process, which knows nothing but the store. */
static void decide(struct world *w, uint32_t seq, const struct cm_decision_row *d)
{
    cm_auto(cm_store) s = NULL;

    assert_int_equal(cm_store_open(w->where, &s, &w->err), CM_OK);
    if (cm_store_call_decide(s, last_id, seq, d, &w->err) != CM_OK ||
        cm_store_commit(s, true, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
}

static void approve(struct world *w, uint32_t seq)
{
    decide(w, seq, &(struct cm_decision_row){.approve = true, .at = 1});
}

static void resume(struct world *w)
{
    w->ended = false;
    if (cm_exec_resume(w->rt, last_id, on_outcome, w, &w->exec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_false(w->ended);
    assert_non_null(fake);
}

/** The program stands still and has paused. */
static void pauses(struct world *w)
{
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    fake_sweep();
    if (w->state != CM_EXEC_PAUSED)
        fail_msg("%s", w->outcome);
    assert_null(fake);
}

static void ends_diverged(struct world *w, const char *text)
{
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"divergence\"");
    HAS(w, text);
}

static void an_approved_call_is_sent_after_what_was_recorded_was_given_again(void **state)
{
    struct world *w = *state;
    struct fake_delivery before;
    uint8_t seed[16];
    int64_t started_at;

    start(w);
    id_of(w);
    memcpy(seed, fake->seed, sizeof seed);
    started_at = fake->started_at;
    fake_tool("local", "echo", "{\"a\":1}");
    before = *delivered(w, 1);
    fake_tool("local", "wipe", "{\"disk\":\"all\"}");
    pauses(w);
    approve(w, 1);
    assert_int_equal(w->ran, 1);

    resume(w);
    assert_string_equal(fake->source, "program");
    assert_memory_equal(fake->seed, seed, sizeof seed);
    assert_int_equal(fake->started_at, started_at);
    fake_tool("local", "echo", "{\"a\":1}");
    assert_int_equal(fake->n_got, 1); /* at once */
    assert_string_equal(fake->got[0].json, "{\"a\":1}");
    assert_int_equal(fake->got[0].now, before.now);
    assert_int_equal(fake->got[0].draw, before.draw);
    fake_tool("local", "wipe", "{\"disk\":\"all\"}");
    assert_string_equal(delivered(w, 2)->json, "{\"disk\":\"all\"}");
    assert_int_equal(fake->got[1].draw, 2);
    assert_int_equal(w->ran, 2); /* the first was not sent again */
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 3);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    HAS(w, "\"calls\":[{\"seq\":0,\"connector\":\"local\",\"method\":\"echo\",\"args\":{\"a\":1},\"state\":"
           "\"applied\"");
    HAS(w, "{\"seq\":1,\"connector\":\"local\",\"method\":\"wipe\",\"args\":{\"disk\":\"all\"},\"state\":"
           "\"applied\"");
    HAS(w, "{\"seq\":2,");
    LACKS(w, "\"seq\":3");
}

static void nothing_is_sent_for_what_nobody_decided(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{\"n\":1}");
    fake_tool("local", "wipe", "{\"n\":2}");
    pauses(w);
    approve(w, 1);
    resume(w);
    fake_tool("local", "wipe", "{\"n\":1}");
    fake_tool("local", "wipe", "{\"n\":2}");
    assert_int_equal(delivered(w, 1)->id, 2);
    pauses(w);
    HAS(w, "\"pending\":[{\"executionId\":");
    HAS(w, "\"seq\":0,\"connector\":\"local\",\"method\":\"wipe\",\"args\":{\"n\":1},\"argsHash\"");
    assert_int_equal(w->ran, 1);
    approve(w, 0);
    resume(w);
    fake_tool("local", "wipe", "{\"n\":1}");
    fake_tool("local", "wipe", "{\"n\":2}");
    assert_int_equal(fake->got[0].id, 2); /* that came before */
    assert_int_equal(delivered(w, 2)->id, 1);
    assert_int_equal(w->ran, 2);
    end_normally(w);
    assert_int_equal(record(w, last_id, 1).delivery, 1);
    assert_int_equal(record(w, last_id, 0).delivery, 2);
}

static void a_rejection_is_what_the_program_gets(void **state)
{
    struct world *w = *state;
    const struct cm_decision_row no = {
        .at = 1,
        .outcome = {CM_STR("{\"code\":\"rejected\",\"message\":\"no\",\"name\":\"Error\"}"),
                    CM_STR("{\"\":\"error\"}")}};

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    decide(w, 0, &no);
    resume(w);
    fake_tool("local", "wipe", "{}");
    assert_true(delivered(w, 1)->failed);
    assert_non_null(strstr(fake->got[0].json, "\"rejected\""));
    end_normally(w);
    assert_int_equal(w->ran, 0);
    assert_int_equal(record(w, last_id, 0).delivery, 1);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_REJECTED);
}

static void other_arguments_of_a_human_are_sent_and_the_programs_are_compared(void **state)
{
    struct world *w = *state;
    const struct cm_decision_row edited = {
        .approve = true, .at = 1, .args = {CM_STR("{\"disk\":\"b\"}"), CM_STR("")}, .args_hash = "sha256:b"};

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{\"disk\":\"a\"}");
    pauses(w);
    decide(w, 0, &edited);
    resume(w);
    fake_tool("local", "wipe", "{\"disk\":\"a\"}");
    assert_string_equal(delivered(w, 1)->json, "{\"disk\":\"b\"}");
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void another_call_than_recorded_ends_the_run_and_is_not_sent(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{\"disk\":\"a\"}");
    pauses(w);
    approve(w, 0);
    resume(w);
    fake_tool("local", "wipe", "{\"disk\":\"b\"}");
    ends_diverged(w, "Its call 0 was local.wipe({\\\"disk\\\":\\\"a\\\"}); now it is "
                     "local.wipe({\\\"disk\\\":\\\"b\\\"}).");
    assert_int_equal(w->ran, 0);
    HAS(w, "\"args\":{\"disk\":\"a\"},\"state\":\"cancelled\"");
    LACKS(w, "\"seq\":1");
    cm_autobuf pending = CM_BUF_INIT(4096);
    assert_int_equal(cm_runtime_pending(w->rt, NULL, &pending, &w->err), CM_OK);
    assert_string_equal(pending.ptr, "{\"pending\":[]}");
}

static void a_call_that_is_left_out_ends_the_run(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    fake_tool("local", "wipe", "{\"disk\":\"a\"}");
    pauses(w);
    approve(w, 1);
    resume(w);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    fake_done("1", "", "{}");
    assert_true(w->ended);
    ends_diverged(w, "It has ended without local.wipe({\\\"disk\\\":\\\"a\\\"}), recorded as call 1.");
    LACKS(w, "\"result\":1");
    assert_int_equal(w->ran, 1);
}

static void a_program_that_waits_for_something_else_diverges(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    fake_tool("local", "refuse", "{}");
    (void)delivered(w, 2);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    approve(w, 2);
    resume(w);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    fake_wait();
    ends_diverged(w, "It has not made local.refuse({}), recorded as call 1");
    assert_int_equal(w->ran, 2);
}

static void a_step_that_ran_is_not_run_again_and_one_that_runs_is(void **state)
{
    struct world *w = *state;
    uint32_t done, open;
    struct fake_delivery begun;

    start(w);
    id_of(w);
    done = fake_call(CM_CALL_STEP, "", "done", "");
    assert_true(delivered(w, 1)->execute);
    fake_step = done;
    fake_tool("local", "echo", "{\"in\":\"done\"}");
    (void)delivered(w, 2);
    fake->ev.on_step_end(fake->user, fake, done, false, (struct cm_value){CM_STR("6"), CM_STR("")});
    (void)delivered(w, 3);
    fake_step = 0;
    open = fake_call(CM_CALL_STEP, "", "open", "");
    begun = *delivered(w, 4);
    fake_step = open;
    fake_tool("local", "echo", "{\"in\":\"open\"}");
    (void)delivered(w, 5);
    fake_tool("local", "wipe", "{}");
    fake_step = 0;
    pauses(w);
    approve(w, 4);
    assert_int_equal(w->ran, 2);

    resume(w);
    (void)fake_call(CM_CALL_STEP, "", "done", "");
    assert_string_equal(delivered(w, 1)->json, "6");
    assert_false(fake->got[0].execute);
    assert_int_equal(fake->got[0].draw, 3);
    open = fake_call(CM_CALL_STEP, "", "open", "");
    assert_true(delivered(w, 2)->execute);
    assert_int_equal(fake->got[1].draw, begun.draw);
    assert_int_equal(fake->got[1].now, begun.now);
    fake_step = open;
    fake_tool("local", "echo", "{\"in\":\"open\"}");
    assert_int_equal(fake->got[2].draw, 5);
    fake_tool("local", "wipe", "{}");
    fake_step = 0;
    (void)delivered(w, 4);
    assert_int_equal(w->ran, 3);
    fake->ev.on_step_end(fake->user, fake, open, false, (struct cm_value){CM_STR("7"), CM_STR("")});
    assert_string_equal(delivered(w, 5)->json, "7");
    end_normally(w);
    HAS(w,
        "\"seq\":2,\"connector\":\"codemode\",\"method\":\"step:open\",\"state\":\"applied\",\"result\":7");
}

static void numbers_are_the_same_after_timers_that_were_cleared(void **state)
{
    struct world *w = *state;
    uint32_t timer;

    start(w);
    id_of(w);
    timer = fake_call(CM_CALL_TIMER, "", "", "1000000");
    fake_tool("local", "wipe", "{}");
    fake->ev.on_cancel(fake->user, fake, timer);
    pauses(w);
    approve(w, 1);
    resume(w);
    timer = fake_call(CM_CALL_TIMER, "", "", "1000000");
    fake_tool("local", "wipe", "{}");
    fake->ev.on_cancel(fake->user, fake, timer);
    (void)delivered(w, 1);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 2);
    end_normally(w);
    HAS(w, "\"seq\":1,\"connector\":\"local\",\"method\":\"wipe\"");
    HAS(w, "\"seq\":2,\"connector\":\"local\",\"method\":\"echo\"");
}

static void searches_and_timers_have_their_answers_in_the_record(void **state)
{
    struct world *w = *state;
    struct fake_delivery before;

    start(w);
    id_of(w);
    fake_call(CM_CALL_TIMER, "", "", "1");
    fake_wait();
    (void)delivered(w, 1);
    fake_call(CM_CALL_SEARCH, "", "", "\"x\"");
    before = *delivered(w, 2);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    approve(w, 2);
    resume(w);
    fake_call(CM_CALL_TIMER, "", "", "1");
    fake_call(CM_CALL_SEARCH, "", "", "\"x\"");
    assert_int_equal(fake->n_got, 2);
    assert_int_equal(fake->got[1].now, before.now);
    fake_tool("local", "wipe", "{}");
    (void)delivered(w, 3);
    end_normally(w);
}

static void each_console_line_is_there_once_with_those_of_steps(void **state)
{
    struct world *w = *state;
    uint32_t step;

    start(w);
    id_of(w);
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("first"));
    step = fake_call(CM_CALL_STEP, "", "s", "");
    fake->ev.on_log(fake->user, fake, CM_LOG_WARN, CM_STR("in the step"));
    fake->ev.on_step_end(fake->user, fake, step, false, (struct cm_value){CM_STR("6"), CM_STR("")});
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("second"));
    fake_tool("local", "wipe", "{}");
    pauses(w);
    HAS(w, "\"logs\":[\"first\",\"[warn] in the step\",\"second\"]");
    approve(w, 1);
    resume(w);
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("first"));
    fake_call(CM_CALL_STEP, "", "s", "");
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("second"));
    fake_tool("local", "wipe", "{}");
    (void)delivered(w, 2);
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("first"));
    end_normally(w);
    HAS(w, "\"logs\":[\"first\",\"[warn] in the step\",\"second\",\"first\"]");
}

static void policy_that_denies_by_now_refuses_what_was_approved(void **state)
{
    struct world *w = *state;
    const struct cm_config_lookup lookup = {
        .text = "{\"codemode\":{\"policy\":[{\"match\":\"local.wipe\",\"action\":\"deny\"}]}}"};

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    approve(w, 0);
    cm_runtime_close(w->rt);
    cm_config_free(w->config);
    assert_int_equal(cm_config_load(&lookup, &w->config, &w->err), CM_OK);
    open_runtime(w);
    resume(w);
    fake_tool("local", "wipe", "{}");
    assert_true(delivered(w, 1)->failed);
    assert_non_null(strstr(fake->got[0].json, "\"denied\""));
    end_normally(w);
    assert_int_equal(w->ran, 0);
    HAS(w, "\"state\":\"failed\"");
}

static void a_connector_that_is_gone_is_named_and_nothing_changes(void **state)
{
    struct world *w = *state;
    cm_connector *conn;

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    approve(w, 0);
    conn = w->conns[0];
    w->conns[0] = w->conns[1];
    assert_int_equal(cm_exec_resume(w->rt, last_id, on_outcome, w, &w->exec, &w->err), CM_E_UNAVAILABLE);
    assert_non_null(strstr(w->err.message, "has called 'local', which is not configured here any more"));
    w->conns[0] = conn;
    resume(w);
    fake_tool("local", "wipe", "{}");
    (void)delivered(w, 1);
    end_normally(w);
    assert_int_equal(w->ran, 1);
}

static void one_that_calls_nothing_of_what_is_gone_goes_on(void **state)
{
    struct world *w = *state;
    cm_connector *slow;

    start(w);
    id_of(w);
    fake_tool("nowhere", "x", "{}"); /* refused: it went nowhere */
    (void)delivered(w, 1);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    approve(w, 1);
    slow = w->conns[1];
    w->conns[1] = w->conns[0];
    resume(w);
    fake_tool("nowhere", "x", "{}");
    fake_tool("local", "wipe", "{}");
    (void)delivered(w, 2);
    end_normally(w);
    w->conns[1] = slow;
}

static void what_has_ended_or_is_not_there_is_not_resumed(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    assert_int_equal(cm_exec_resume(w->rt, last_id, on_outcome, w, &w->exec, &w->err), CM_E_CONFLICT);
    assert_non_null(strstr(w->err.message, "is running"));
    end_normally(w);
    assert_int_equal(cm_exec_resume(w->rt, last_id, on_outcome, w, &w->exec, &w->err), CM_E_CONFLICT);
    assert_non_null(strstr(w->err.message, "is completed"));
    assert_int_equal(cm_exec_resume(w->rt, "exec_x", on_outcome, w, &w->exec, &w->err), CM_E_NOT_FOUND);
    assert_non_null(strstr(w->err.message, "in runtime 'default'"));
}

static bool keep_limits(void *user, const struct cm_exec_row *row)
{
    *(char **)user = cm_memdup_z(row->limits_json.ptr, row->limits_json.len);
    return false;
}

static void limits_are_those_of_the_first_pass_and_never_higher_than_todays(void **state)
{
    struct world *w = *state;
    cm_autofree char *json = NULL;

    limits.subrequests = 2;
    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    pauses(w);
    assert_int_equal(cm_store_execution(w->store, last_id, keep_limits, &json, NULL), CM_OK);
    assert_non_null(strstr(json, "\"subrequests\":2,"));
    approve(w, 0);
    resume(w);
    fake_tool("local", "wipe", "{}");
    (void)delivered(w, 1);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 2);
    fake_tool("local", "echo", "{}");
    WAIT_WHILE(w, !w->ended);
    HAS(w, "\"code\":\"subrequests_limit\"");
    HAS(w, "more than 2 connector calls");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(an_approved_call_is_sent_after_what_was_recorded_was_given_again),
        T(nothing_is_sent_for_what_nobody_decided),
        T(a_rejection_is_what_the_program_gets),
        T(other_arguments_of_a_human_are_sent_and_the_programs_are_compared),
        T(another_call_than_recorded_ends_the_run_and_is_not_sent),
        T(a_call_that_is_left_out_ends_the_run),
        T(a_program_that_waits_for_something_else_diverges),
        T(a_step_that_ran_is_not_run_again_and_one_that_runs_is),
        T(numbers_are_the_same_after_timers_that_were_cleared),
        T(searches_and_timers_have_their_answers_in_the_record),
        T(each_console_line_is_there_once_with_those_of_steps),
        T(policy_that_denies_by_now_refuses_what_was_approved),
        T(a_connector_that_is_gone_is_named_and_nothing_changes),
        T(one_that_calls_nothing_of_what_is_gone_goes_on),
        T(what_has_ended_or_is_not_there_is_not_resumed),
        T(limits_are_those_of_the_first_pass_and_never_higher_than_todays),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
