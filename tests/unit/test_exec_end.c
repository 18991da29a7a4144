/**
 * How executions end, with a sandbox that the test plays itself: cancelled, by a limit, by a lie, without a
 * disk.
 */
#include "exec_world.h"

#include <sys/stat.h>

static void cancelling_leaves_a_call_with_effects_unknown(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    fake_tool("local", "keep_read", "{}");
    WAIT_WHILE(w, w->n_kept < 2);
    cm_exec_cancel(w->exec);
    cm_exec_cancel(w->exec);
    assert_false(w->ended);
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    HAS(w, "\"status\":\"cancelled\"");
    HAS(w, "local.keep (line 2) was still running");
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_UNKNOWN);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_CANCELLED);
    /* The tool answers late: nobody listens, nothing changes. */
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    cm_loop_nowait(w->loop);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_UNKNOWN);
}

static void an_answer_while_a_run_ends_is_recorded_but_not_delivered(void **state)
{
    struct world *w = *state;
    struct cm_call_row row;

    start(w);
    id_of(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    cm_exec_cancel(w->exec); /* the pass has not ended yet */
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    cm_loop_nowait(w->loop);
    cm_loop_nowait(w->loop);
    WAIT_WHILE(w, !w->ended);
    row = record(w, last_id, 0);
    assert_int_equal(row.state, CM_CALL_APPLIED);
    assert_int_equal(row.delivery, 0);
}

static void calls_nobody_awaited_are_named(void **state)
{
    struct world *w = *state;

    limits.calls_in_flight = 2;
    start(w);
    fake_tool("local", "keep_read", "{}");
    fake_tool("local", "wipe", "{}");
    fake_tool("local", "keep", "{}");
    fake_tool("local", "echo", "{}");
    WAIT_WHILE(w, w->n_kept < 2);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    HAS(w, "local.keep_read (line 2) was still running when the program ended and was cancelled");
    HAS(w, "local.wipe (line 3) was waiting for approval when the program ended: it was withdrawn and has "
           "not run");
    HAS(w, "local.keep (line 4) was still running when the run ended and was cancelled; it may have taken "
           "effect");
    HAS(w, "local.echo (line 5) had not been sent");
    assert_int_equal(w->ran, 2);
    LACKS(w, "\"pending\":");
}

static void warnings_of_the_worker_do_not_crowd_out_ours(void **state)
{
    struct world *w = *state;
    cm_autobuf meta = CM_BUF_INIT(1 << 20);

    start(w);
    fake_tool("local", "wipe", "{}");
    cm_buf_add_z(&meta, "{\"warnings\":[\"w\"");
    for (int i = 0; i < 100; i++)
        cm_buf_addf(&meta, ",\"w%d\"", i);
    cm_buf_add_z(&meta, "]}");
    fake_done("1", "", meta.ptr);
    HAS(w, "\"w8\"");
    LACKS(w, "\"w9\"");
    HAS(w, "local.wipe (line 2) was waiting for approval");
}

static void a_large_result_is_cut_and_the_record_keeps_it(void **state)
{
    struct world *w = *state;
    cm_autobuf out = CM_BUF_INIT(1 << 20);

    limits.result_bytes = 6;
    start(w);
    id_of(w);
    fake_done("\"a\\u00e9\\u00e9\\u00e9\\n\"", "", "{}");
    HAS(w, "\"result\":\"a\xc3\xa9\xc3\xa9\"");
    HAS(w, "\"bytes\":8,\"shown\":5,\"at\":\"result\"},\"result\":\"a\xc3\xa9\xc3\xa9\"");
    HAS(w, "limits.resultBytes");
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &out, &w->err), CM_OK);
    assert_non_null(strstr(out.ptr, "\"result\":\"a\xc3\xa9\xc3\xa9\xc3\xa9\\n\""));
    start(w);
    fake_done("[1,2,3,4,5]", "", "{}");
    HAS(w, "\"at\":\"result\",\"items\":5,\"shownItems\":2},\"result\":[1,2],");
}

static void calls_do_not_smuggle_out_what_was_cut(void **state)
{
    struct world *w = *state;

    limits.result_bytes = 20;
    start(w);
    fake_tool("local", "echo", "{\"a\":\"0123456789012345678901234567890\"}");
    (void)delivered(w, 1);
    end_normally(w);
    LACKS(w, "0123456789012345");
    HAS(w, "\"truncated\":{\"code\":\"result_limit\",\"bytes\":78,\"shown\":0}}]");
}

static void a_programs_error_is_rebuilt_and_cannot_speak_for_the_host(void **state)
{
    struct world *w = *state;
    cm_autobuf meta = CM_BUF_INIT(1 << 20);

    start(w);
    fake_throw("{\"error\":{\"stack\":\"at "
               "1\",\"message\":\"m\",\"name\":\"TypeError\",\"code\":\"E1\",\"line\":3,\"column\":7,"
               "\"source\":\"x()\",\"status\":\"completed\"},\"warnings\":[1,\"w\"]}");
    HAS(w, "\"error\":{\"name\":\"TypeError\",\"message\":\"m\",\"code\":\"E1\",\"line\":3,\"column\":7,"
           "\"source\":\"x()\",\"stack\":"
           "\"at 1\"}}");
    HAS(w, "\"warnings\":[\"w\"]");
    LACKS(w, "completed");
    start(w);
    fake_throw(
        "{\"error\":{\"name\":7,\"message\":[],\"code\":\"memory_limit\",\"line\":-1,\"column\":1e99}}");
    HAS(w, "\"error\":{\"name\":\"Error\",\"message\":\"The program failed without saying why.\"}");
    start(w);
    fake_throw("not json");
    assert_int_equal(w->state, CM_EXEC_ERROR);
    cm_buf_add_z(&meta, "{\"error\":{\"name\":\"E\",\"message\":\"");
    for (int i = 0; i < 40000; i++)
        cm_buf_add_z(&meta, "\xe2\x82\xac");
    cm_buf_add_z(&meta, "\"}}");
    start(w);
    fake_throw(meta.ptr);
    HAS(w, "(120000 bytes in all)");
    assert_true(strlen(w->outcome) < 20000);
}

static void fields_of_an_error_are_values_and_leave_its_place_alone(void **state)
{
    static const char meta[] = "{\"error\":{\"name\":\"E\",\"message\":\"m\",\"line\":3}}";
    struct world *w = *state;

    start(w);
    fake_throw_with(meta,
                    "{\"line\":9,\"code\":\"cpu_limit\",\"stack\":1,\"$x\":\"5\",\"cause\":{\"name\":\"C\"}}",
                    "{\"/$x\":\"bigint\"}");
    HAS(w,
        "\"error\":{\"name\":\"E\",\"message\":\"m\",\"line\":3,\"$$x\":\"5\",\"cause\":{\"name\":\"C\"}}}");
    start(w);
    fake_throw_with(meta, "{\"a\":1,\"a\":2}", "");
    HAS(w, "\"line\":3}}");
    start(w);
    fake_throw_with(meta, "{\"a\":1}", "{\"/b\":\"date\"}");
    HAS(w, "\"line\":3}}");
    start(w);
    fake_throw_with(meta, "[1]", "");
    HAS(w, "\"line\":3}}");
}

static void a_result_that_is_no_value_is_an_error(void **state)
{
    struct world *w = *state;

    start(w);
    fake_done("{\"a\":", "", "{}");
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"invalid_result\"");
    start(w);
    fake_done("[1]", "{\"/7\":\"date\"}", "{}");
    HAS(w, "\"code\":\"invalid_result\"");
    start(w);
    fake_done("", "", "{}");
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    LACKS(w, "\"result\"");
}

static void a_killed_pass_keeps_its_log_and_names_its_last_call(void **state)
{
    struct world *w = *state;
    const struct cm_pass_end end = {.kind = CM_PASS_LIMIT, .code = "cpu_limit", .message = "Too much CPU."};

    start(w);
    fake->ev.on_log(fake->user, fake, CM_LOG_INFO, CM_STR("before"));
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    fake_end(&end);
    HAS(w, "\"logs\":[\"before\"]");
    HAS(w, "\"error\":{\"name\":\"Error\",\"message\":\"Too much CPU. The last call was local.echo (line "
           "2).\",\"code\":\"cpu_limit\"}");
}

static void secrets_are_taken_out_of_what_the_runtime_says(void **state)
{
    struct world *w = *state;
    const struct cm_pass_end end = {
        .kind = CM_PASS_FAILED, .code = "", .message = "spawn with hunter2hunter2 failed"};

    start(w);
    fake_end(&end);
    LACKS(w, "hunter2");
    HAS(w, "\"code\":\"no_worker\"");
}

static void a_program_that_is_too_large_is_refused_before_there_is_a_row(void **state)
{
    struct world *w = *state;
    struct cm_exec_spec spec = {.code = CM_STR("0123456789"), .limits = limits};
    cm_autobuf out = CM_BUF_INIT(1 << 20);

    spec.limits.source_bytes = 9;
    assert_int_equal(cm_exec_start(w->rt, &spec, on_outcome, w, &w->exec, &w->err), CM_E_LIMIT);
    assert_non_null(strstr(w->err.message, "limits.sourceBytes"));
    assert_int_equal(cm_runtime_executions(w->rt, 0, &out, &w->err), CM_OK);
    assert_string_equal(out.ptr, "{\"executions\":[]}");
}

static void nothing_is_sent_that_cannot_be_recorded(void **state)
{
    struct world *w = *state;
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, little = {4096, RLIM_INFINITY};

    start(w);
    id_of(w);
    cm_loop_nowait(w->loop);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0); /* stands in for a full disk */
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    assert_int_equal(w->ran, 0);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    assert_string_equal(w->outcome,
                        ""); /* not even the failure could be recorded: there is no outcome, but an error */
    assert_int_equal(w->err.status, CM_E_IO);
    /* With room again, the next run works. */
    start(w);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void records_that_were_lost_are_not_claimed(void **state)
{
    struct world *w = *state;
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, little = {4096, RLIM_INFINITY};

    start(w);
    id_of(w);
    cm_loop_nowait(w->loop);
    fake_tool("local", "keep_read", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    cm_loop_nowait(w->loop);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    while (cm_store_losses(w->store) == 0) /* the outcome's group cannot be committed */
        (void)cm_loop_once(w->loop);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"store_error\"");
}

static void a_full_disk_is_the_reason_and_not_an_unknown_execution(void **state)
{
    struct world *w = *state;
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, little = {4096, RLIM_INFINITY};

    start(w);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    while (cm_store_losses(w->store) == 0) /* the execution's own row cannot be committed */
        (void)cm_loop_once(w->loop);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    assert_string_equal(w->outcome, "");
    assert_int_equal(w->err.status, CM_E_IO);
    assert_non_null(strstr(w->err.message, "could not be recorded"));
    assert_non_null(strstr(w->err.message, "disk"));
}

static void what_another_process_decided_is_what_is_told(void **state)
{
    struct world *w = *state;
    cm_auto(cm_store) other = NULL;
    const struct cm_exec_row row = {.state = CM_EXEC_CANCELLED, .updated_at = 5, .ended_at = 5};

    start(w);
    cm_loop_nowait(w->loop);
    assert_int_equal(cm_store_open(w->where, &other, &w->err), CM_OK);
    assert_int_equal(cm_store_finish(other, cm_exec_id(w->exec), 1u << CM_EXEC_RUNNING, &row, &w->err),
                     CM_OK);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    HAS(w, "\"status\":\"cancelled\"");
    LACKS(w, "\"result\"");
}

/** The first conflict once ended the settling of all, and what had been sent stayed `executing` in a run that had ended. */
static void a_call_that_another_process_decided_leaves_no_other_one_open(void **state)
{
    struct world *w = *state;
    cm_auto(cm_store) other = NULL;
    const struct cm_decision_row no = {.at = 5, .outcome = {CM_STR("{\"message\":\"no\"}"), CM_STR("")}};

    start(w);
    id_of(w);
    fake_tool("local", "wipe", "{}");
    fake_tool("local", "keep", "{}");
    fake_tool("local", "keep_read", "{}");
    fake_tool("local", "wipe", "{\"n\":2}");
    WAIT_WHILE(w, w->n_kept < 2);
    settle();
    assert_int_equal(cm_store_open(w->where, &other, &w->err), CM_OK);
    assert_int_equal(cm_store_call_decide(other, last_id, 0, &no, &w->err), CM_OK);
    assert_int_equal(cm_store_commit(other, true, &w->err), CM_OK);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    assert_int_equal(record(w, last_id, 0).state, CM_CALL_REJECTED);
    assert_int_equal(record(w, last_id, 1).state, CM_CALL_UNKNOWN);
    assert_int_equal(record(w, last_id, 2).state, CM_CALL_CANCELLED);
    assert_int_equal(record(w, last_id, 3).state, CM_CALL_CANCELLED);
}

static void closing_the_runtime_ends_what_runs(void **state)
{
    struct world *w = *state;

    start(w);
    fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, w->n_kept == 0);
    cm_runtime_close(cm_steal(&w->rt));
    assert_true(w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    HAS(w, "\"state\":\"unknown\"");
    fake_sweep(); /* the pass ends later, to nobody */
    cm_native_reply_json(cm_steal(&w->kept[0]), CM_STR("1"));
    cm_loop_nowait(w->loop);
}

static void a_single_call_is_an_execution_like_any_other(void **state)
{
    struct world *w = *state;
    cm_autobuf out = CM_BUF_INIT(1 << 20);

    start_call(w, "local.strict", "{\"n\":3}");
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    HAS(w, "\"result\":{\"n\":3},\"calls\":[{\"seq\":0,\"connector\":\"local\",\"method\":\"strict\","
           "\"args\":{\"n\":3}");
    start_call(w, "local.refuse", "{}");
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"error\":{\"name\":\"Error\",\"message\":\"no coffee\",\"code\":\"teapot\",\"status\":418}");
    start_call(w, "local.nothing", "{}");
    HAS(w, "\"code\":\"unknown_method\"");
    start_call(w, "local.wipe", "{}");
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    assert_int_equal(w->ran, 2);
    HAS(w, "\"pending\":[{");
    assert_int_equal(cm_runtime_executions(w->rt, 1, &out, &w->err), CM_OK);
    assert_non_null(strstr(out.ptr, "\"code\":\"(input) => local.wipe(input)\""));
}

static void only_the_newest_executions_are_kept(void **state)
{
    struct world *w = *state;
    cm_autobuf out = CM_BUF_INIT(1 << 20);
    size_t n = 0;

    for (int i = 0; i < 9; i++) {
        start(w);
        end_normally(w);
        cm_loop_nowait(w->loop);
    }
    assert_int_equal(cm_runtime_executions(w->rt, 0, &out, &w->err), CM_OK);
    for (const char *p = out.ptr; (p = strstr(p, "\"executionId\"")); p++)
        n++;
    assert_int_equal(n, 5);
    cm_buf_clear(&out);
    assert_int_equal(cm_runtime_execution(w->rt, "exec_0", &out, &w->err), CM_E_NOT_FOUND);
    assert_non_null(strstr(w->err.message, "codemode executions"));
}

static void when_a_run_has_ended_others_can_write_at_once(void **state)
{
    struct world *w = *state;
    cm_auto(cm_store) other = NULL;
    const struct cm_exec_row row = {.id = "exec_x", .runtime = "other", .created_at = 1};

    start(w);
    fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    end_normally(w);
    /* No turn of the loop in between: an open transaction of ours would keep it waiting until it gives up. */
    assert_int_equal(cm_store_open(w->where, &other, &w->err), CM_OK);
    assert_int_equal(cm_store_begin(other, &row, &w->err), CM_OK);
}

static void a_run_that_another_process_ended_leaves_the_store_writable(void **state)
{
    struct world *w = *state;
    cm_auto(cm_store) other = NULL;
    const struct cm_exec_row ended = {.state = CM_EXEC_CANCELLED, .updated_at = 5, .ended_at = 5};
    const struct cm_exec_row next = {.id = "exec_x", .runtime = "other", .created_at = 1};

    start(w);
    cm_loop_nowait(w->loop);
    assert_int_equal(cm_store_open(w->where, &other, &w->err), CM_OK);
    assert_int_equal(cm_store_finish(other, cm_exec_id(w->exec), 1u << CM_EXEC_RUNNING, &ended, &w->err),
                     CM_OK);
    end_normally(w);
    /* No turn of the loop in between, as above. */
    assert_int_equal(cm_store_begin(other, &next, &w->err), CM_OK);
}

static void the_record_shows_the_program_and_the_rule(void **state)
{
    struct world *w = *state;
    cm_autobuf out = CM_BUF_INIT(1 << 20);

    start(w);
    id_of(w);
    fake_tool("local", "forbidden", "{}");
    (void)delivered(w, 1);
    end_normally(w);
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &out, &w->err), CM_OK);
    assert_non_null(strstr(out.ptr, "\"rule\":\"policy[0] local.forbidden\""));
    assert_non_null(strstr(out.ptr, "\"code\":\"program\""));
    assert_non_null(strstr(out.ptr, "\"createdAt\":1"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(cancelling_leaves_a_call_with_effects_unknown),
        T(an_answer_while_a_run_ends_is_recorded_but_not_delivered),
        T(calls_nobody_awaited_are_named),
        T(warnings_of_the_worker_do_not_crowd_out_ours),
        T(a_large_result_is_cut_and_the_record_keeps_it),
        T(calls_do_not_smuggle_out_what_was_cut),
        T(a_programs_error_is_rebuilt_and_cannot_speak_for_the_host),
        T(fields_of_an_error_are_values_and_leave_its_place_alone),
        T(a_result_that_is_no_value_is_an_error),
        T(a_killed_pass_keeps_its_log_and_names_its_last_call),
        T(secrets_are_taken_out_of_what_the_runtime_says),
        T(a_program_that_is_too_large_is_refused_before_there_is_a_row),
        T(nothing_is_sent_that_cannot_be_recorded),
        T(records_that_were_lost_are_not_claimed),
        T(a_full_disk_is_the_reason_and_not_an_unknown_execution),
        T(what_another_process_decided_is_what_is_told),
        T(a_call_that_another_process_decided_leaves_no_other_one_open),
        T(closing_the_runtime_ends_what_runs),
        T(a_single_call_is_an_execution_like_any_other),
        T(only_the_newest_executions_are_kept),
        T(when_a_run_has_ended_others_can_write_at_once),
        T(a_run_that_another_process_ended_leaves_the_store_writable),
        T(the_record_shows_the_program_and_the_rule),
    };

    return cmocka_run_group_tests_name("exec_end", tests, NULL, NULL);
}
