/**
 * Undoing what an execution did, with a sandbox that the test plays itself: which calls, in which order, what a failure, a crash between
 * two steps and a second rollback make of it, and that nothing is undone twice.
 */
#include "exec_world.h"

#include "runtime/undo.h"

/* ---- a world whose tools can be undone ---- */

static struct cm_buf undone;     /* what reverts were called with, one line each */
static int n_refusals;           /* this many reverts fail first */
static cm_call *unanswered;      /* of a revert that does not answer */
static char *reported;           /* the newest report */
static struct cm_err report_err; /* or why there is none */
static int n_reports;
static char heard[512]; /* hooks */

static void undo(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    if (n_refusals > 0) {
        n_refusals--;
        cm_native_reply_error(k, "locked", CM_STR(""), "it is locked");
        return;
    }
    cm_buf_addf(&undone, "%s %.*s\n", cm_call__method(k), CM_STR_ARG(args));
    cm_native_reply_json(k, CM_STR("true"));
}

static void undo_later(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    cm_buf_addf(&undone, "%s %.*s\n", cm_call__method(k), CM_STR_ARG(args));
    unanswered = k;
}

/** The call that undoes another by configuration. */
static void take_away(void *user, cm_call *k, struct cm_str args)
{
    undo(user, k, args);
}

static void time_out(void *user, cm_call *k, struct cm_str args)
{
    (void)user, (void)args;
    cm_native_reply_error(k, "timeout", CM_STR(""), "no answer");
}

static void on_dispose(void *user, const char *execution, const char *status)
{
    (void)user, (void)execution;
    (void)snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "dispose %s;", status);
}

static void on_pass_end(void *user, const char *execution, const char *status)
{
    (void)user, (void)execution;
    (void)snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "pass %s;", status);
}

static const char config_text[] =
    "{\"codemode\":{\"policy\":[{\"match\":\"*.gated\",\"action\":\"approve\"}],"
    "\"reverts\":{\"local.put\":{\"call\":\"local.take-away\",\"args\":{\"id\":\"$result.id\",\"from\":\"$"
    "args.where?\"}},"
    "\"local.echo\":{\"call\":\"local.nowhere\"}},"
    "\"log\":{\"drop\":[{\"match\":\"local.personal\",\"args\":true,\"results\":true}]}}}";

static void add_undoable(struct world *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"from\":{\"type\":\"string\"}},"
        "\"required\":[\"id\"],\"additionalProperties\":false}";
    const struct cm_native_tool tools[] = {
        {.name = "make", .fn = echo, .revert = undo, .user = w},
        {.name = "slow", .fn = echo, .revert = undo_later, .user = w},
        {.name = "gated", .fn = echo, .revert = undo, .user = w},
        {.name = "personal", .fn = echo, .revert = undo, .user = w},
        {.name = "kept", .fn = keep, .revert = undo, .user = w},
        {.name = "late", .fn = time_out, .revert = undo, .user = w},
        {.name = "failing", .fn = refuse, .revert = undo, .user = w},
        {.name = "put", .fn = echo, .user = w},
        {.name = "take-away", .fn = take_away, .user = w, .input_schema = schema},
        {.name = "plain", .fn = echo, .user = w},
    };
    const struct cm_native_hooks hooks = {on_pass_end, on_dispose, NULL};

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conns[0], &tools[i], &w->err), CM_OK);
    assert_int_equal(cm_connector_native_hooks(w->conns[0], &hooks, &w->err), CM_OK);
}

static int set_up_undoable(void **state)
{
    const struct cm_config_lookup lookup = {.text = config_text};
    struct world *w;

    (void)set_up(state);
    w = *state;
    cm_runtime_close(w->rt);
    cm_config_free(w->config);
    if (cm_config_load(&lookup, &w->config, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    open_runtime(w);
    add_undoable(w);
    undone = CM_BUF_INIT(65536);
    n_refusals = n_reports = 0;
    heard[0] = '\0';
    return 0;
}

static int tear_down_undoable(void **state)
{
    int rc = tear_down(state);

    cm_buf_done(&undone);
    free(cm_steal(&reported));
    unanswered = NULL;
    return rc;
}

/** Call a tool and wait for its answer. */
static void call(struct world *w, const char *method, const char *args)
{
    size_t n = fake->n_got;

    fake_tool("local", method, args);
    (void)delivered(w, n + 1);
}

static void complete(struct world *w)
{
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void on_report(void *user, struct cm_str json, const struct cm_err *err)
{
    (void)user;
    n_reports++;
    free(reported);
    reported = cm_memdup_z(json.ptr, json.len);
    report_err = err ? *err : (struct cm_err){0};
}

static void roll_back_as(struct world *w, struct cm_rollback r)
{
    int n = n_reports;

    r.id = last_id;
    r.by = "ann";
    if (cm_runtime_rollback_as(w->rt, &r, on_report, w, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_int_equal(n_reports, n); /* never from inside */
    WAIT_WHILE(w, n_reports == n);
    if (report_err.status != CM_OK)
        fail_msg("%s", report_err.message);
}

static void roll_back(struct world *w)
{
    roll_back_as(w, (struct cm_rollback){0});
}

#define SAYS(text)                                   \
    do {                                             \
        if (!strstr(reported, text))                 \
            fail_msg("no %s in %s", text, reported); \
    } while (0)
#define UNDONE(text) assert_string_equal(cm_buf_str(&undone).ptr, text)

static enum cm_call_state state_of(struct world *w, uint32_t seq)
{
    return record(w, last_id, seq).state;
}

/* ---- tests ---- */

static void what_took_effect_is_undone_newest_first(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "make", "{\"n\":1}");
    call(w, "plain", "{}");
    call(w, "make", "{\"n\":2}");
    complete(w);
    heard[0] = '\0';
    roll_back(w);
    UNDONE(
        "make {\"args\":{\"n\":2},\"result\":{\"n\":2}}\nmake {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"status\":\"rolled_back\",\"reverted\":[{\"seq\":2,\"connector\":\"local\",\"method\":\"make\"},{"
         "\"seq\":0,");
    SAYS("\"failed\":[]");
    SAYS(
        "\"skipped\":[{\"seq\":1,\"connector\":\"local\",\"method\":\"plain\",\"reason\":\"it has no revert");
    assert_int_equal(state_of(w, 0), CM_CALL_REVERTED);
    assert_int_equal(state_of(w, 1), CM_CALL_APPLIED);
    assert_string_equal(heard, "dispose rolled_back;");
    roll_back(w); /* there is nothing left */
    SAYS("\"status\":\"rolled_back\",\"reverted\":[],\"failed\":[]");
    assert_string_equal(heard, "dispose rolled_back;");

    cm_autobuf shown = CM_BUF_INIT(65536);
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &shown, &w->err), CM_OK);
    assert_non_null(strstr(cm_buf_str(&shown).ptr, "\"revertedBy\":\"ann\""));
    assert_non_null(strstr(cm_buf_str(&shown).ptr, "\"revertedAt\":"));
}

static void a_revert_that_fails_is_reported_and_done_the_next_time(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "make", "{\"n\":1}");
    call(w, "make", "{\"n\":2}");
    complete(w);
    heard[0] = '\0';
    n_refusals = 1;
    roll_back(w);
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"status\":\"completed\",\"reverted\":[{\"seq\":0,");
    SAYS("\"failed\":[{\"seq\":1,\"connector\":\"local\",\"method\":\"make\",\"error\":\"it is "
         "locked\",\"code\":\"revert_failed\"}]");
    assert_string_equal(heard, "");
    roll_back(w);
    UNDONE(
        "make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\nmake {\"args\":{\"n\":2},\"result\":{\"n\":2}}\n");
    SAYS("\"status\":\"rolled_back\",\"reverted\":[{\"seq\":1,");
    assert_string_equal(heard, "dispose rolled_back;");
}

static void a_configured_call_undoes_with_mapped_arguments(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "put", "{\"id\":7,\"where\":\"shelf\"}");
    call(w, "put", "{\"id\":8}");
    call(w, "put", "{\"name\":\"no id in its result\"}");
    call(w, "put", "{\"id\":\"seven\"}");
    call(w, "echo", "{}"); /* marked as read-only, and said to be undone by what is not there */
    complete(w);
    roll_back(w);
    UNDONE("take_away {\"id\":8}\ntake_away {\"from\":\"shelf\",\"id\":7}\n");
    SAYS("\"status\":\"completed\"");
    SAYS("\"seq\":2,\"connector\":\"local\",\"method\":\"put\",\"error\":\"codemode.reverts.local.put: there "
         "is no $result.id");
    SAYS("\"seq\":3,\"connector\":\"local\",\"method\":\"put\",\"error\":\"codemode.reverts.local.put: id "
         "must be an integer");
    SAYS("\"seq\":4,\"connector\":\"local\",\"method\":\"echo\",\"error\":\"local has no method 'nowhere'");
    assert_int_equal(state_of(w, 0), CM_CALL_REVERTED);
    assert_int_equal(record(w, last_id, 3).revert_started_at, 0); /* nothing was sent */
}

static void a_call_of_unknown_outcome_is_undone_and_one_that_failed_is_not(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    fake_tool("local", "kept", "{\"n\":1}");
    WAIT_WHILE(w, w->n_kept == 0);
    call(w, "failing", "{}");
    call(w, "late", "{\"n\":2}");
    cm_exec_cancel(w->exec);
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(state_of(w, 0), CM_CALL_UNKNOWN);
    roll_back(w);
    UNDONE("late {\"args\":{\"n\":2}}\nkept {\"args\":{\"n\":1}}\n");
    SAYS("\"status\":\"rolled_back\"");
    SAYS("\"skipped\":[{\"seq\":1,\"connector\":\"local\",\"method\":\"failing\",\"reason\":\"it failed and "
         "said so");
}

static void a_revert_that_was_interrupted_is_asked_about_and_not_sent_again(void **state)
{
    struct world *w = *state;
    const uint32_t other = 0, it = 1;

    start(w);
    id_of(w);
    call(w, "make", "{\"n\":1}");
    call(w, "slow", "{\"n\":2}");
    complete(w);
    assert_int_equal(cm_runtime_rollback(w->rt, last_id, on_report, w, &w->err), CM_OK);
    WAIT_WHILE(w, !unanswered);
    assert_int_equal(cm_runtime_rollback(w->rt, last_id, on_report, w, &w->err), CM_E_CONFLICT);
    cm_runtime_close(w->rt); /* as a crash would: the intent stands, the outcome does not */
    assert_int_equal(report_err.status, CM_E_CANCELLED);
    assert_true(record(w, last_id, 1).revert_started_at > 0);
    open_runtime(w);
    cm_native_reply_json(cm_steal(&unanswered), CM_STR("true")); /* to nobody */
    cm_buf_clear(&undone);

    roll_back(w);
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"status\":\"completed\"");
    SAYS("\"seq\":1,\"connector\":\"local\",\"method\":\"slow\",\"error\":\"a revert was sent at ");
    SAYS("\"code\":\"revert_unknown\"");
    roll_back_as(w, (struct cm_rollback){.seqs = &other, .n_seqs = 1, .unknown = CM_REVERT_DONE});
    SAYS("\"status\":\"completed\",\"reverted\":[],\"failed\":[]"); /* what is left was not meant */
    roll_back_as(w, (struct cm_rollback){.seqs = &it, .n_seqs = 1, .unknown = CM_REVERT_DONE});
    SAYS("\"status\":\"rolled_back\",\"reverted\":[{\"seq\":1,");
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
}

static void an_interrupted_revert_is_sent_again_when_a_human_says_so(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "make", "{\"n\":1}");
    complete(w);
    assert_int_equal(cm_store_call_revert_start(w->store, last_id, 0, 5, 0, "bob", &w->err), CM_OK);
    roll_back(w);
    UNDONE("");
    SAYS("a revert was sent at 5 (epoch ms) for bob");
    roll_back_as(w, (struct cm_rollback){.unknown = CM_REVERT_AGAIN});
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"status\":\"rolled_back\"");
}

static void a_running_execution_is_not_undone_and_a_paused_one_is_cancelled_first(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "make", "{\"n\":1}");
    assert_int_equal(cm_runtime_rollback(w->rt, last_id, on_report, w, &w->err), CM_E_CONFLICT);
    assert_non_null(strstr(w->err.message, "is running; cancel it first"));
    fake_tool("local", "gated", "{}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    heard[0] = '\0';
    const struct cm_rollback nothing = {.id = last_id, .seqs = (const uint32_t[]){7}, .n_seqs = 1};
    assert_int_equal(cm_runtime_rollback_as(w->rt, &nothing, on_report, w, &w->err), CM_E_NOT_FOUND);
    assert_non_null(strstr(w->err.message, "has no call 7"));
    assert_string_equal(heard, ""); /* and it waits on */
    roll_back(w);
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"status\":\"rolled_back\"");
    assert_int_equal(state_of(w, 1), CM_CALL_CANCELLED);
    assert_string_equal(heard, "dispose cancelled;dispose rolled_back;");
    assert_int_equal(cm_runtime_rollback(w->rt, "exec_0", on_report, w, &w->err), CM_E_NOT_FOUND);
}

static void what_left_the_record_cannot_be_undone_and_the_report_says_so(void **state)
{
    struct world *w = *state;

    start(w);
    id_of(w);
    call(w, "personal", "{\"ssn\":\"123-45-6789\"}");
    call(w, "make", "{\"n\":1}");
    complete(w);
    LACKS(w, "123-45-6789");
    HAS(w, "\"dropped\":[\"args\",\"result\"]");
    assert_int_equal(state_of(w, 0), CM_CALL_APPLIED);

    cm_autobuf shown = CM_BUF_INIT(65536);
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &shown, &w->err), CM_OK);
    assert_null(strstr(cm_buf_str(&shown).ptr, "123-45-6789"));
    roll_back(w);
    UNDONE("make {\"args\":{\"n\":1},\"result\":{\"n\":1}}\n");
    SAYS("\"skipped\":[{\"seq\":0,\"connector\":\"local\",\"method\":\"personal\",\"reason\":\"its arguments "
         "were dropped");
}

static void hooks_run_once_with_the_state_that_is_recorded(void **state)
{
    struct world *w = *state;

    start(w);
    call(w, "make", "{}");
    complete(w);
    assert_string_equal(heard, "pass completed;dispose completed;");
    heard[0] = '\0';
    start(w);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"no\"}}");
    assert_string_equal(heard, "pass error;dispose error;");
    heard[0] = '\0';
    start(w);
    id_of(w);
    fake_tool("local", "gated", "{}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_string_equal(heard, "pass paused;");
    assert_int_equal(cm_runtime_cancel(w->rt, last_id, &w->err), CM_OK);
    settle();
    assert_string_equal(heard, "pass paused;dispose cancelled;");
}

static void hooks_run_in_the_process_that_goes_on(void **state)
{
    struct world *w = *state;
    const struct cm_decide d = {.seqs = (const uint32_t[]){0}, .n_seqs = 1};
    struct cm_decide mine = d;

    start(w);
    id_of(w);
    fake_tool("local", "gated", "{}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    fake_sweep();
    cm_runtime_close(w->rt);
    heard[0] = '\0';
    open_runtime(w);
    w->ended = false;
    mine.id = last_id;
    assert_int_equal(cm_runtime_approve(w->rt, &mine, on_outcome, w, &w->exec, &w->err), CM_OK);
    call(w, "gated", "{}");
    complete(w);
    assert_string_equal(heard, "pass completed;dispose completed;");
}

/* ---- the rule alone ---- */

static void every_state_has_its_rule(void **state)
{
    static const struct {
        enum cm_call_state state;
        unsigned flags;
        bool was_sent, was_asked;
        const char *error;
        enum rt_verdict want;
    } rows[] = {
        {CM_CALL_APPLIED, 0, true, false, NULL, RT_REVERT},
        {CM_CALL_UNKNOWN, 0, true, false, NULL, RT_REVERT},
        {CM_CALL_EXECUTING, CM_METHOD_IDEMPOTENT, true, false, NULL, RT_REVERT},
        {CM_CALL_CANCELLED, CM_METHOD_IDEMPOTENT, true, false, NULL, RT_REVERT},
        {CM_CALL_CANCELLED, CM_METHOD_IDEMPOTENT, false, false, NULL, RT_LEAVE},
        {CM_CALL_CANCELLED, CM_METHOD_READ_ONLY, true, false, NULL, RT_LEAVE},
        {CM_CALL_FAILED, 0, true, false, "{\"code\":\"timeout\"}", RT_REVERT},
        {CM_CALL_FAILED, 0, true, false, "{\"code\":\"unavailable\"}", RT_REVERT},
        {CM_CALL_FAILED, 0, true, false, "{\"code\":\"exit\",\"signal\":9}", RT_REVERT},
        {CM_CALL_FAILED, 0, true, false, "{\"code\":\"exit\",\"exitCode\":1}", RT_SKIP},
        {CM_CALL_FAILED, 0, true, false, "{\"code\":\"http\",\"status\":409}", RT_SKIP},
        {CM_CALL_FAILED, 0, true, false, "{\"message\":\"no\"}", RT_SKIP},
        {CM_CALL_FAILED, 0, false, false, "{\"code\":\"timeout\"}", RT_LEAVE},
        {CM_CALL_PENDING, 0, false, false, NULL, RT_LEAVE},
        {CM_CALL_REJECTED, 0, false, false, NULL, RT_LEAVE},
        {CM_CALL_REJECTED, 0, false, true, NULL, RT_REVERT},
        {CM_CALL_REVERTED, 0, true, false, NULL, RT_LEAVE},
    };

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autofree char *json = cm_strdup(rows[i].error ? rows[i].error : "");
        const struct rt_undone u = {.state = rows[i].state,
                                    .flags = rows[i].flags,
                                    .was_sent = rows[i].was_sent,
                                    .was_asked = rows[i].was_asked,
                                    .outcome = {.json = json, .json_len = strlen(json)}};
        const char *why = NULL;

        if (rt_undone_judge(&u, &why) != rows[i].want || (rows[i].want == RT_SKIP) != (why != NULL))
            fail_msg("row %zu: %d, %s", i, rt_undone_judge(&u, &why), why ? why : "-");
    }
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up_undoable, tear_down_undoable)
    const struct CMUnitTest tests[] = {
        T(what_took_effect_is_undone_newest_first),
        T(a_revert_that_fails_is_reported_and_done_the_next_time),
        T(a_configured_call_undoes_with_mapped_arguments),
        T(a_call_of_unknown_outcome_is_undone_and_one_that_failed_is_not),
        T(a_revert_that_was_interrupted_is_asked_about_and_not_sent_again),
        T(an_interrupted_revert_is_sent_again_when_a_human_says_so),
        T(a_running_execution_is_not_undone_and_a_paused_one_is_cancelled_first),
        T(what_left_the_record_cannot_be_undone_and_the_report_says_so),
        T(hooks_run_once_with_the_state_that_is_recorded),
        T(hooks_run_in_the_process_that_goes_on),
        cmocka_unit_test(every_state_has_its_rule),
    };

    return cmocka_run_group_tests_name("rollback", tests, NULL, NULL);
}
