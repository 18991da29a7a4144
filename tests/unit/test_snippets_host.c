/** codemode.run as the host sees it: each test plays the worker, also one that lies. */
#include "exec_world.h"

static void put(struct world *w, const char *name, const char *code, const char *schema)
{
    const struct cm_snippet_row row = {.runtime = "default",
                                       .name = name,
                                       .description = "",
                                       .code = cm_str_of(code),
                                       .input_schema = cm_str_of(schema),
                                       .connectors_json = "[]",
                                       .execution = "exec_test",
                                       .saved_at = 1};

    if (cm_store_snippet_save(w->store, &row, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
}

static uint32_t fake_run(const char *name, const char *args)
{
    return fake_call(CM_CALL_RUN, "", name, args);
}

static void step_end(uint32_t id, bool failed, const char *json)
{
    fake->ev.on_step_end(fake->user, fake, id, failed, (struct cm_value){cm_str_of(json), CM_STR("")});
}

static bool find_here(void *user, const struct cm_call_row *row)
{
    struct cm_call_row *want = user;

    if (row->seq == want->seq)
        *want = *row;
    return row->seq != want->seq;
}

/** What this process has recorded; its numbers only. */
static struct cm_call_row row_of(struct world *w, uint32_t seq)
{
    struct cm_call_row row = {.seq = seq, .kind = 99};

    assert_int_equal(cm_store_calls(w->store, id_of(w), find_here, &row, &w->err), CM_OK);
    return row;
}

static char *kept_code;

static bool keep_code(void *user, const struct cm_call_row *row)
{
    if (row->seq == *(const uint32_t *)user) {
        free(kept_code);
        kept_code = cm_memdup_z(row->code.ptr, row->code.len);
    }
    return true;
}

/** The text that stands in the record of call `seq`. */
static const char *recorded_code(struct world *w, uint32_t seq)
{
    assert_int_equal(cm_store_calls(w->store, id_of(w), keep_code, &seq, &w->err), CM_OK);
    return kept_code;
}

static void a_run_gets_text_and_input_and_is_recorded_with_both(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;
    struct cm_call_row row;
    uint32_t id;

    put(w, "x", "return \"a\\b\"", "");
    start(w);
    id = fake_run("x", "[\"x\",{\"b\":1,\"a\":2}]");
    d = delivered(w, 1);
    assert_true(d->execute);
    assert_int_equal(d->id, id);
    assert_string_equal(d->json, "[\"return \\\"a\\\\b\\\"\",{\"a\":2,\"b\":1}]");
    step_end(id, false, "{\"v\":1}");
    d = delivered(w, 2);
    assert_false(d->execute || d->failed);
    assert_string_equal(d->json, "{\"v\":1}");
    assert_string_equal(recorded_code(w, 0), "return \"a\\b\"");
    row = row_of(w, 0);
    assert_int_equal(row.kind, CM_CALL_RUN);
    assert_int_equal(row.state, CM_CALL_APPLIED);
    end_normally(w);
    HAS(w, "\"connector\":\"codemode\",\"method\":\"run:x\",\"args\":[\"x\",{\"a\":2,\"b\":1}],\"state\":"
           "\"applied\"");
}

static void calls_inside_belong_to_it_and_count_as_the_runs(void **state)
{
    struct world *w = *state;
    uint32_t id;

    put(w, "x", "1", "");
    limits.subrequests = 1;
    start(w);
    id = fake_run("x", "[\"x\"]");
    fake_step = id;
    (void)fake_tool("local", "echo", "{}");
    (void)delivered(w, 2);
    assert_int_equal(row_of(w, 1).parent_seq, 0);
    (void)fake_tool("local", "echo", "{}");
    fake_step = 0;
    WAIT_WHILE(w, !w->ended);
    HAS(w, "\"code\":\"subrequests_limit\"");
}

static void what_is_recorded_stays_when_the_snippet_changes(void **state)
{
    struct world *w = *state;
    uint32_t id;

    put(w, "x", "the first", "");
    start(w);
    id = fake_run("x", "[\"x\"]");
    (void)delivered(w, 1);
    put(w, "x", "the second", "");
    assert_int_equal(cm_store_snippet_delete(w->store, "default", "x", &w->err), CM_OK);
    step_end(id, false, "1");
    assert_string_equal(recorded_code(w, 0), "the first");
    end_normally(w);
}

/** Arguments that are not those of a name: an error of the call, and nothing runs. */
static void arguments_that_say_another_name_are_refused(void **state)
{
    static const char *const wrong[] = {"[\"y\"]",     "[]",     "\"x\"",     "{\"0\":\"x\"}",
                                        "[\"x\",1,2]", "[null]", "[[\"x\"]]", ""};
    struct world *w = *state;

    put(w, "x", "1", "");
    put(w, "y", "2", "");
    start(w);
    for (size_t i = 0; i < CM_ARRAY_LEN(wrong); i++) {
        const struct fake_delivery *d;

        (void)fake_run("x", wrong[i]);
        d = delivered(w, i + 1);
        assert_true(d->failed);
        assert_false(d->execute);
        assert_non_null(strstr(d->json, "\"code\":\"invalid_arguments\""));
    }
    end_normally(w);
}

static void marks_on_the_name_are_refused(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;
    uint32_t id;

    put(w, "5", "1", "");
    start(w);
    id = ++fake->last_id;
    fake->ev.on_call(fake->user, fake, id, CM_CALL_RUN, CM_STR(""), CM_STR("5"),
                     (struct cm_value){CM_STR("[\"5\"]"), CM_STR("{\"/0\":\"bigint\"}")},
                     (struct cm_call_place){0});
    d = delivered(w, 1);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "takes a text as the name"));
    end_normally(w);
}

static void an_end_that_nothing_was_waiting_for_ends_the_worker(void **state)
{
    struct world *w = *state;

    put(w, "x", "1", "");
    for (int i = 0; i < 4; i++) {
        uint32_t id;

        start(w);
        switch (i) {
        case 0: /* of a call that was never made */
            step_end(7, false, "1");
            break;
        case 1: /* of a run that was refused */
            id = fake_run("nothere", "[\"nothere\"]");
            (void)delivered(w, 1);
            step_end(id, false, "1");
            break;
        case 2: /* twice */
            id = fake_run("x", "[\"x\"]");
            (void)delivered(w, 1);
            step_end(id, false, "1");
            step_end(id, false, "\"forged\"");
            break;
        case 3: /* of a tool's call */
            id = fake_tool("local", "keep", "{}");
            step_end(id, false, "\"forged\"");
            break;
        }
        WAIT_WHILE(w, !w->ended);
        HAS(w, "\"code\":\"protocol\"");
        if (i < 3)
            LACKS(w, "forged");
    }
}

static void a_value_that_is_none_fails_the_run(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;
    uint32_t id;

    put(w, "x", "1", "");
    start(w);
    id = fake_run("x", "[\"x\"]");
    (void)delivered(w, 1);
    step_end(id, false, "{not json");
    d = delivered(w, 2);
    assert_true(d->failed);
    HAS(&(struct world){.outcome = d->json}, "snippet 'x'");
    end_normally(w);
}

static void depth_is_counted_by_what_runs(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    put(w, "x", "1", "");
    start(w);
    for (size_t i = 0; i < 8; i++) {
        fake_step = fake_run("x", "[\"x\"]");
        d = delivered(w, i + 1);
        assert_true(d->execute);
    }
    (void)fake_run("x", "[\"x\"]");
    fake_step = 0;
    d = delivered(w, 9);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "\"code\":\"snippet_depth\""));
    (void)fake_run("x", "[\"x\"]"); /* beside them there is room */
    assert_true(delivered(w, 10)->execute);
    end_normally(w);
}

static void an_input_over_the_limit_is_refused(void **state)
{
    struct world *w = *state;
    const struct fake_delivery *d;

    put(w, "x", "1", "");
    limits.arg_bytes = 20;
    start(w);
    (void)fake_run("x", "[\"x\",\"0123456789012345678901234567890123456789\"]");
    d = delivered(w, 1);
    assert_true(d->failed);
    assert_non_null(strstr(d->json, "\"code\":\"arguments_limit\""));
    assert_non_null(strstr(d->json, "codemode.run: "));
    end_normally(w);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_run_gets_text_and_input_and_is_recorded_with_both),
        T(calls_inside_belong_to_it_and_count_as_the_runs),
        T(what_is_recorded_stays_when_the_snippet_changes),
        T(arguments_that_say_another_name_are_refused),
        T(marks_on_the_name_are_refused),
        T(an_end_that_nothing_was_waiting_for_ends_the_worker),
        T(a_value_that_is_none_fails_the_run),
        T(depth_is_counted_by_what_runs),
        T(an_input_over_the_limit_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    free(kept_code);
    return failed;
}
