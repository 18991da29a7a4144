/**
 * Calls, with a sandbox that the test plays itself: what is decided, recorded, sent and answered, in which
 * order. How executions end is in test_exec_end.c; the real worker in test_runtime.c.
 */
#include "exec_world.h"

static void the_outcome_has_its_keys_in_their_order(void **state)
{
    struct world *w = *state;
    char want[2048];

    start(w);
    id_of(w);
    fake->ev.on_log(fake->user, fake, CM_LOG_LOG, CM_STR("hi"));
    fake->ev.on_log(fake->user, fake, CM_LOG_WARN, CM_STR("careful\n"));
    fake->ev.on_log(fake->user, fake, CM_LOG_ERROR, CM_STR("\"bad\""));
    fake_done("{\"b\":\"2020\",\"a\":1577836800000}", "{\"/a\":\"date\"}", "{\"warnings\":[\"odd\"]}");
    assert_true(w->ended);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    (void)snprintf(want, sizeof want,
                   "{\"status\":\"completed\",\"executionId\":\"%s\",\"result\":{\"b\":\"2020\",\"a\":\"2020-"
                   "01-01T00:00:00."
                   "000Z\"},"
                   "\"logs\":[\"hi\",\"[warn] careful\\n\",\"[error] "
                   "\\\"bad\\\"\"],\"warnings\":[\"odd\"],\"calls\":[]}",
                   last_id);
    assert_string_equal(w->outcome, want);
    assert_int_equal(strncmp(last_id, "exec_", 5), 0);
    assert_int_equal(strlen(last_id), 5 + 16 + 1 + 36);
}

static void a_call_is_recorded_before_it_is_sent_and_answered_after_it_is_recorded(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;
    struct cm_call_row row;

    start(w);
    fake_tool("local", "keep", "{\"b\":2,\"a\":[1.0]}");
    fake_wait();
    WAIT_WHILE(w, w->n_kept == 0);
    assert_string_equal(w->kept_args[0], "{\"a\":[1],\"b\":2}"); /* canonical */
    row = record(w, id_of(w), 0);
    assert_int_equal(row.state, CM_CALL_EXECUTING);
    assert_int_equal(row.line, 2);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("{\"n\":9007199254740993}"));
    d = delivered(w, 1);
    assert_string_equal(d->json, "{\"n\":\"9007199254740993\"}");
    assert_int_equal(d->id, 1);
    assert_false(d->failed || d->execute);
    fake_done("1", "", "{}");
    HAS(w, "\"calls\":[{\"seq\":0,\"connector\":\"local\",\"method\":\"keep\",\"args\":{\"a\":[1],\"b\":2},"
           "\"state\":\"applied\","
           "\"result\":{\"n\":\"9007199254740993\"},\"startedAt\":");
    row = record(w, last_id, 0);
    assert_int_equal(row.state, CM_CALL_APPLIED);
    assert_int_equal(row.delivery, 1);
}

static void answers_are_recorded_in_the_order_of_their_delivery(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    for (int i = 0; i < 3; i++)
        fake_tool("local", "keep_read", "");
    WAIT_WHILE(w, w->n_kept < 3);
    for (int i = 2; i >= 0; i--) {
        cm_native_reply_json(cm_steal(&w->kept[i]), CM_STR("0"));
        assert_int_equal(delivered(w, (size_t)(3 - i))->id, i + 1);
    }
    assert_true(fake->got[0].now <= fake->got[1].now && fake->got[1].now <= fake->got[2].now);
    end_normally(w);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(record(w, last_id, i).delivery, 3 - i);
}

static void the_recorded_clock_is_the_one_the_program_saw(void **state)
{
    struct world *w = *state;
    int64_t seen;

    start(w);
    fake_tool("local", "echo", "{}");
    seen = delivered(w, 1)->now;
    id_of(w);
    end_normally(w);
    assert_int_equal(record(w, last_id, 0).delivered_at, seen);
}

static void what_the_policy_denies_does_not_run_and_says_which_rule(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    start(w);
    fake_tool("local", "forbidden", "{}");
    d = delivered(w, 1);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "\"denied\""));
    assert_non_null(strstr(d->json, "policy[0] local.forbidden"));
    end_normally(w);
    assert_int_equal(w->ran, 0);
    HAS(w, "\"method\":\"forbidden\",\"args\":{},\"state\":\"failed\",\"error\":{\"name\":\"Error\","
           "\"message\":\"local.forbidden is denied");
}

static void a_call_that_needs_approval_pauses_and_does_not_run(void **state)
{
    struct world *w = *state;
    struct cm_call_row row;

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{\"disk\":\"all\"}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->ran, 0);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    row = record(w, last_id, 0);
    assert_int_equal(row.state, CM_CALL_PENDING);
    HAS(w, "\"status\":\"paused\"");
    HAS(w, "\"pending\":[{\"executionId\":\"exec_");
    HAS(w, "\"seq\":0,\"connector\":\"local\",\"method\":\"wipe\",\"args\":{\"disk\":\"all\"},\"argsHash\":"
           "\"sha256:");
    LACKS(w, "\"result\"");
    LACKS(w, "\"error\"");
}

static void the_hash_is_that_of_the_json_one_nul_and_the_marks(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "wipe", "{}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    /* printf '{}\0{}' | sha256sum, or without marks: printf '{}\0' | sha256sum */
    HAS(w, "\"argsHash\":\"sha256:68e9e86b6926cc2b37df96b5e61bb8cabdab276272bb73f6767e420c3ead0663\"");
}

static void calls_in_flight_finish_before_a_run_pauses(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "wipe", "{}");
    fake_tool("local", "keep_read", "{}");
    fake_tool("local", "asked", "{\"n\":1}");
    fake_wait();
    WAIT_WHILE(w, w->n_kept == 0);
    cm_loop_nowait(w->loop);
    fake_sweep();
    assert_false(w->ended);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("7"));
    assert_int_equal(delivered(w, 1)->id, 2);
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    assert_int_equal(w->ran, 1);
    HAS(w, "\"seq\":0");
    HAS(w, "\"seq\":1,\"connector\":\"local\",\"method\":\"keep_read\",\"args\":{},\"state\":\"applied\","
           "\"result\":7");
    HAS(w, "\"pending\":[{\"executionId\":");
    HAS(w, "\"method\":\"asked\",\"args\":{\"n\":1},\"argsHash\"");
}

static void a_timer_keeps_a_run_from_pausing_until_it_has_fired(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "wipe", "{}");
    fake_call(CM_CALL_TIMER, "", "", "1");
    fake_wait();
    assert_int_equal(delivered(w, 1)->id, 2);
    assert_false(w->ended);
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
}

static void arguments_that_do_not_fit_are_refused_before_a_human_is_asked(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    start(w);
    fake_tool("local", "asked", "{\"n\":\"one\"}");
    d = delivered(w, 1);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "invalid_arguments"));
    assert_non_null(strstr(d->json, "local.asked: "));
    fake_tool("local", "strict", "[1]");
    assert_non_null(strstr(delivered(w, 2)->json, "expected one object"));
    fake_tool("local", "strict", "{\"n\":1,\"m\":2}");
    assert_true(delivered(w, 3)->failed);
    fake_tool("local", "echo", "{\"a\":\"\\ud800\"}");
    assert_non_null(strstr(delivered(w, 4)->json, "/a"));
    fake_tool("local", "echo", "{\"a\":");
    assert_true(delivered(w, 5)->failed);
    end_normally(w);
    assert_int_equal(w->ran, 0);
}

static void too_many_argument_bytes_are_refused_with_the_limit(void **state)
{
    struct world *w = *state;

    limits.arg_bytes = 10;
    start(w);
    fake_tool("local", "echo", "{\"a\":\"0123456789\"}");
    assert_non_null(strstr(delivered(w, 1)->json, "limits.argBytes"));
    assert_true(fake->got[0].failed);
    end_normally(w);
    assert_int_equal(w->ran, 0);
}

static void names_that_do_not_exist_get_the_nearest_that_do(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("lokal", "echo", "{}");
    assert_non_null(strstr(delivered(w, 1)->json, "Did you mean 'local'?"));
    fake_tool("local", "ecko", "{}");
    assert_non_null(strstr(delivered(w, 2)->json, "echo"));
    fake_tool("local", "__proto__", "{}");
    assert_true(delivered(w, 3)->failed);
    fake_tool("local", "constructor", "{}");
    assert_true(delivered(w, 4)->failed);
    fake->ev.on_call(fake->user, fake, ++fake->last_id, CM_CALL_TOOL, CM_STR("local"),
                     cm_str_mk("echo\0x", 6), (struct cm_value){0}, (struct cm_call_place){0});
    assert_true(delivered(w, 5)->failed);
    end_normally(w);
    assert_int_equal(w->ran, 0);
    HAS(w, "echo?x");
}

static void a_failing_tool_gives_its_own_message_and_fields(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    start(w);
    fake_tool("local", "refuse", "{}");
    d = delivered(w, 1);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "\"message\":\"no coffee\""));
    assert_non_null(strstr(d->json, "\"status\":418"));
    end_normally(w);
    HAS(w, "\"state\":\"failed\",\"error\":{");
    HAS(w, "no coffee");
}

static void a_step_runs_once_and_is_recorded_with_its_value(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;
    uint32_t id;
    struct cm_call_row row;

    start(w);
    id_of(w);
    id = fake_call(CM_CALL_STEP, "", "roll", "");
    d = delivered(w, 1);
    assert_true(d->execute);
    fake_step = id;
    fake_tool("local", "echo", "{}"); /* inside the step */
    fake_step = 0;
    fake_wait();
    (void)delivered(w, 2);
    fake->ev.on_step_end(fake->user, fake, id, false,
                         (struct cm_value){CM_STR("{ \"v\" : 6.0 }"), CM_STR("")});
    assert_string_equal(delivered(w, 3)->json, "{\"v\":6}"); /* as recorded */
    fake_tool("local", "echo", "{}");                        /* after it */
    (void)delivered(w, 4);
    end_normally(w);
    HAS(w, "{\"seq\":0,\"connector\":\"codemode\",\"method\":\"step:roll\",\"state\":\"applied\",\"result\":{"
           "\"v\":6}");
    row = record(w, last_id, 0);
    assert_int_equal(row.delivery, 3);
    assert_int_equal(record(w, last_id, 1).parent_seq, 0);
    assert_int_equal(record(w, last_id, 1).delivery, 2);
    assert_int_equal(record(w, last_id, 2).parent_seq, -1);
}

static void a_step_whose_value_cannot_be_recorded_fails(void **state)
{
    struct world *w = *state;
    uint32_t id;

    start(w);
    id = fake_call(CM_CALL_STEP, "", "s", "");
    (void)delivered(w, 1);
    fake->ev.on_step_end(fake->user, fake, id, false, (struct cm_value){CM_STR("\"\\udc00\""), CM_STR("")});
    assert_true(delivered(w, 2)->failed);
    assert_non_null(strstr(fake->got[1].json, "invalid_result"));
    end_normally(w);
    HAS(w, "\"method\":\"step:s\",\"state\":\"failed\"");
}

static void a_step_that_was_not_running_cannot_end(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    fake->ev.on_step_end(fake->user, fake, 1, false, (struct cm_value){CM_STR("\"forged\""), CM_STR("")});
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"protocol\"");
    LACKS(w, "forged");
    HAS(w, "\"state\":\"unknown\"");
}

static void searches_and_timers_are_recorded_but_are_no_calls(void **state)
{
    struct world *w = *state;

    limits.subrequests = 0;
    start(w);
    id_of(w);
    fake_call(CM_CALL_SEARCH, "", "", "{\"query\":\"issues\",\"limit\":3}");
    assert_string_equal(delivered(w, 1)->json, "{\"limit\":3,\"query\":\"issues\"}");
    fake_call(CM_CALL_SEARCH, "", "", "\"x\"");
    assert_string_equal(delivered(w, 2)->json, "{\"limit\":0,\"query\":\"x\"}");
    fake_call(CM_CALL_DESCRIBE, "", "", "\"local.echo\"");
    assert_string_equal(delivered(w, 3)->json, "{\"path\":\"local.echo\"}");
    fake_call(CM_CALL_DESCRIBE, "", "", "\"nothing\"");
    assert_non_null(strstr(delivered(w, 4)->json, "\"found\":false"));
    assert_false(fake->got[3].failed);
    fake_call(CM_CALL_TIMER, "", "", "0");
    fake_wait();
    assert_string_equal(delivered(w, 5)->json, "null");
    fake_call(CM_CALL_TIMER, "", "", "\"soon\"");
    fake_wait();
    (void)delivered(w, 6);
    end_normally(w);
    HAS(w, "\"calls\":[]");
    assert_int_equal(record(w, last_id, 2).kind, CM_CALL_DESCRIBE);
    assert_int_equal(record(w, last_id, 4).delivery, 5);
    assert_int_equal(cm_connector_state(w->conns[1]), CM_CONN_READY);
}

static void timers_of_one_turn_fire_by_their_times_however_late_one_is_heard_of(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    start(w);
    fake_call(CM_CALL_TIMER, "", "", "2");
    fake_call(CM_CALL_TIMER, "", "", "1");
    (void)cm_loop_once(w->loop); /* until one is due: the turn goes on */
    assert_int_equal(fake->n_got, 0);
    fake_call(CM_CALL_TIMER, "", "", "0");
    fake_wait();
    d = delivered(w, 3);
    assert_int_equal(d[-2].id, 3);
    assert_int_equal(d[-1].id, 2);
    assert_int_equal(d[0].id, 1);
    end_normally(w);
}

static void a_timer_fires_though_outcomes_leave_the_program_no_rest(void **state)
{
    struct world *w = *state;

    start(w);
    fake_call(CM_CALL_TIMER, "", "", "0");
    (void)cm_loop_once(w->loop);
    assert_int_equal(fake->n_got, 0);
    fake->n_turns++; /* its turn has ended while the next one's outcome was on its way: nobody says that it stands still */
    fake_tool("local", "keep_read", "{}");
    assert_int_equal(delivered(w, 1)->id, 1);
    fake_wait();
    end_normally(w);
}

static void too_many_calls_end_the_run(void **state)
{
    struct world *w = *state;

    limits.subrequests = 2;
    start(w);
    for (int i = 0; i < 2; i++)
        fake_tool("local", "echo", "{}");
    (void)delivered(w, 2);
    fake_tool("local", "echo", "{}");
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->ran, 2);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"subrequests_limit\"");
    HAS(w, "more than 2 connector calls (limits.subrequests)");
    HAS(w, "local.echo (line 4)");
}

static void too_many_timers_end_the_run(void **state)
{
    struct world *w = *state;

    limits.timers = 3;
    start(w);
    for (int i = 0; i < 4; i++)
        fake_call(CM_CALL_TIMER, "", "", "60000");
    WAIT_WHILE(w, !w->ended);
    HAS(w, "\"code\":\"timers_limit\"");
}

static void calls_beyond_those_in_flight_wait_their_turn(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 2;
    start(w);
    for (int i = 0; i < 5; i++)
        fake_tool("local", "keep", "{}");
    fake_wait();
    WAIT_WHILE(w, w->n_kept < 2);
    cm_loop_nowait(w->loop);
    assert_int_equal(w->n_kept, 2);
    for (size_t i = 0; i < 5; i++) {
        WAIT_WHILE(w, w->n_kept <= i);
        cm_native_reply_json(cm_steal(&w->kept[i]), CM_STR("1"));
        (void)delivered(w, i + 1);
    }
    assert_int_equal(w->n_kept, 5);
    end_normally(w);
}

static void a_program_may_take_no_more_than_its_limits_when_it_queues(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 1;
    start(w);
    fake_tool("local", "wipe", "{}");
    fake_tool("local", "wipe", "{}");
    fake_tool("local", "echo", "{}");
    fake_wait();
    assert_int_equal(delivered(w, 1)->id, 3); /* what is pending takes no place */
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
}

/* Each refusal gives its slot to the next in the queue: were that a call within a call, the stack would end
 * first. */
static void a_queue_of_wrong_calls_does_not_overflow_the_stack(void **state)
{
    struct world *w = *state;
    const size_t n = FAKE_DELIVERED_MAX - 1;

    limits.calls_in_flight = 1;
    limits.subrequests = FAKE_DELIVERED_MAX;
    start(w);
    fake_tool("local", "keep", "{}");
    for (size_t i = 0; i < n; i++)
        fake_tool("nowhere", "at_all", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    (void)delivered(w, n + 1);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fake->got[i + 1].id, i + 2);
    end_normally(w);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_outcome_has_its_keys_in_their_order),
        T(a_call_is_recorded_before_it_is_sent_and_answered_after_it_is_recorded),
        T(answers_are_recorded_in_the_order_of_their_delivery),
        T(the_recorded_clock_is_the_one_the_program_saw),
        T(what_the_policy_denies_does_not_run_and_says_which_rule),
        T(a_call_that_needs_approval_pauses_and_does_not_run),
        T(the_hash_is_that_of_the_json_one_nul_and_the_marks),
        T(calls_in_flight_finish_before_a_run_pauses),
        T(a_timer_keeps_a_run_from_pausing_until_it_has_fired),
        T(arguments_that_do_not_fit_are_refused_before_a_human_is_asked),
        T(too_many_argument_bytes_are_refused_with_the_limit),
        T(names_that_do_not_exist_get_the_nearest_that_do),
        T(a_failing_tool_gives_its_own_message_and_fields),
        T(a_step_runs_once_and_is_recorded_with_its_value),
        T(a_step_whose_value_cannot_be_recorded_fails),
        T(a_step_that_was_not_running_cannot_end),
        T(searches_and_timers_are_recorded_but_are_no_calls),
        T(timers_of_one_turn_fire_by_their_times_however_late_one_is_heard_of),
        T(a_timer_fires_though_outcomes_leave_the_program_no_rest),
        T(too_many_calls_end_the_run),
        T(too_many_timers_end_the_run),
        T(calls_beyond_those_in_flight_wait_their_turn),
        T(a_program_may_take_no_more_than_its_limits_when_it_queues),
        T(a_queue_of_wrong_calls_does_not_overflow_the_stack),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
