/**
 * Executions with a sandbox that the test plays itself (fake_pass.h): what is decided, recorded, sent and
 * answered, in which order, and what a worker that lies can do about it. The real worker has its tests in
 * test_runtime.c.
 */
#include "base/fd.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"

#include "fake_pass.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

struct world {
    char dir[32];
    char where[96];
    cm_loop *loop;
    cm_store *store;
    cm_config *config;
    cm_secrets *secrets;
    cm_runtime *rt;
    cm_connector *conns[2];
    cm_exec *exec;
    bool ended;
    enum cm_exec_state state;
    char *outcome;
    struct cm_err err;
    int ran;           /* callbacks of tools */
    cm_call *kept[64]; /* calls that a tool has not answered */
    char *kept_args[64];
    size_t n_kept;
};

/* ---- tools ---- */

static void echo(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->ran++;
    cm_native_reply_json(k, args);
}

static void refuse(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    (void)args;
    w->ran++;
    cm_native_reply_error(k, "teapot", CM_STR("{\"status\":418}"), "no coffee");
}

static void keep(void *user, cm_call *k, struct cm_str args)
{
    struct world *w = user;

    w->ran++;
    w->kept_args[w->n_kept] = cm_memdup_z(args.ptr, args.len);
    w->kept[w->n_kept++] = k;
}

static void die(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    (void)k;
    (void)args;
    (void)raise(SIGKILL);
}

static void add_tools(struct world *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    const struct cm_native_tool tools[] = {
        {.name = "echo", .fn = echo, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "strict", .fn = echo, .user = w, .input_schema = schema},
        {.name = "refuse", .fn = refuse, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "keep", .fn = keep, .user = w},
        {.name = "keep_read", .fn = keep, .user = w, .flags = CM_METHOD_READ_ONLY},
        {.name = "wipe", .fn = echo, .user = w, .flags = CM_METHOD_REQUIRES_APPROVAL},
        {.name = "forbidden", .fn = echo, .user = w},
        {.name = "asked", .fn = echo, .user = w, .flags = CM_METHOD_READ_ONLY, .input_schema = schema},
        {.name = "die", .fn = die, .user = w},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        assert_int_equal(cm_connector_native_add(w->conns[0], &tools[i], &w->err), CM_OK);
}

/* ---- the world ---- */

static struct cm_limits limits;

static void open_runtime(struct world *w)
{
    const struct cm_runtime_opts opts = {
        .loop = w->loop,
        .store = w->store,
        .connectors = w->conns,
        .n_connectors = 2,
        .config = w->config,
        .secrets = w->secrets,
        .name = "default",
        .limits = CM_LIMITS_DEFAULT,
        .max_executions = 5,
    };

    assert_int_equal(cm_runtime_open(&opts, &w->rt, &w->err), CM_OK);
}

static int set_up(void **state)
{
    struct world *w = cm_new(struct world);
    const struct cm_connector_base local = {.name = "local", .origin = "a test"},
                                   slow = {.name = "slow", .origin = "a test"};
    const struct cm_config_lookup lookup = {
        .text = "{\"codemode\":{\"policy\":[{\"match\":\"local.forbidden\",\"action\":\"deny\"},"
                "{\"match\":\"*.asked\",\"action\":\"approve\"}]}}"};

    limits = CM_LIMITS_DEFAULT;
    (void)snprintf(w->dir, sizeof w->dir, "/tmp/cm-exec-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    (void)snprintf(w->where, sizeof w->where, "sqlite:%s/codemode.db", w->dir);
    assert_int_equal(cm_loop_new(&w->loop, &w->err), CM_OK);
    assert_int_equal(cm_store_open(w->where, &w->store, &w->err), CM_OK);
    if (cm_config_load(&lookup, &w->config, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    w->secrets = cm_secrets_new();
    cm_secrets_add(w->secrets, CM_STR("hunter2hunter2"), "TOKEN");
    w->conns[0] = cm_connector_native(w->loop, &local, NULL);
    w->conns[1] = cm_connector_native(w->loop, &slow, NULL);
    add_tools(w);
    open_runtime(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    cm_autofree char *cmd = cm_asprintf("rm -r '%s'", w->dir);

    cm_runtime_close(w->rt);
    if (fake)
        fake_sweep();
    for (size_t i = 0; i < w->n_kept; i++) {
        if (w->kept[i])
            cm_native_reply_json(w->kept[i], CM_STR("null"));
        free(w->kept_args[i]);
    }
    cm_connector_free(w->conns[0]);
    cm_connector_free(w->conns[1]);
    cm_loop_free(w->loop);
    cm_store_close(w->store);
    cm_config_free(w->config);
    cm_secrets_free(w->secrets);
    free(w->outcome);
    free(w);
    return system(cmd);
}

/* Events until the condition no longer holds; a loop with nothing left to wait for is a failure, not a hang.
 */
#define WAIT_WHILE(w, condition)                                          \
    while (condition) {                                                   \
        bool more = cm_loop_once((w)->loop);                              \
        fake_sweep();                                                     \
        if (!more && (condition))                                         \
            fail_msg("nothing is left to wait for while %s", #condition); \
    }

static void on_outcome(void *user, enum cm_exec_state state, struct cm_str json, const struct cm_err *err)
{
    struct world *w = user;

    assert_false(w->ended);
    w->ended = true;
    w->state = state;
    free(w->outcome);
    w->outcome = cm_memdup_z(json.ptr, json.len);
    if (err)
        w->err = *err;
}

static void start(struct world *w)
{
    const struct cm_exec_spec spec = {.code = CM_STR("program"), .limits = limits};

    w->ended = false;
    if (cm_exec_start(w->rt, &spec, on_outcome, w, &w->exec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_non_null(fake);
}

static void start_call(struct world *w, const char *path, const char *args)
{
    const struct cm_exec_spec spec = {
        .call_path = path, .call_args = {cm_str_of(args), CM_STR("")}, .limits = limits};

    w->ended = false;
    if (cm_exec_start(w->rt, &spec, on_outcome, w, &w->exec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    assert_false(w->ended);
    WAIT_WHILE(w, !w->ended);
}

static void end_normally(struct world *w)
{
    fake_done("1", "", "{}");
    assert_true(w->ended);
}

#define HAS(w, text)                                     \
    do {                                                 \
        if (!strstr((w)->outcome, text))                 \
            fail_msg("no %s in %s", text, (w)->outcome); \
    } while (0)
#define LACKS(w, text)                                \
    do {                                              \
        if (strstr((w)->outcome, text))               \
            fail_msg("%s in %s", text, (w)->outcome); \
    } while (0)

/** Answers of ids from `n` on have been delivered. */
static const struct fake_delivery *delivered(struct world *w, size_t n)
{
    WAIT_WHILE(w, fake && !fake->killed && fake->n_got < n);
    assert_non_null(fake);
    assert_int_equal(fake->n_got, n);
    return &fake->got[n - 1];
}

static bool find_row(void *user, const struct cm_call_row *row)
{
    struct cm_call_row *want = user;

    if (row->seq != want->seq)
        return true;
    *want = *row;
    want->connector = want->method = want->args_hash = want->decision = want->rule = NULL; /* borrowed */
    want->args = want->outcome = (struct cm_value){0};
    return false;
}

/** What stands in the record about call `seq`, as another process would read it. */
static struct cm_call_row record(struct world *w, const char *id, uint32_t seq)
{
    cm_auto(cm_store) s = NULL;
    struct cm_call_row row = {.seq = seq, .kind = 99};

    assert_int_equal(cm_store_open(w->where, &s, &w->err), CM_OK);
    assert_int_equal(cm_store_calls(s, id, find_row, &row, &w->err), CM_OK);
    assert_int_not_equal(row.kind, 99);
    return row;
}

static char last_id[64];

static const char *id_of(struct world *w)
{
    (void)snprintf(last_id, sizeof last_id, "%s", cm_exec_id(w->exec));
    return last_id;
}

/* ---- tests ---- */

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
                   "{\"status\":\"completed\",\"executionId\":\"%s\",\"result\":{\"a\":\"2020-01-01T00:00:00."
                   "000Z\",\"b\":\"2020\"},"
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
    HAS(w, "\"method\":\"forbidden\",\"args\":{},\"state\":\"failed\",\"error\":{\"code\":\"denied\"");
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
                     cm_str_mk("echo\0x", 6), (struct cm_value){0}, 0, 0);
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
    fake_tool("local", "echo", "{}"); /* inside the step */
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
    assert_int_equal(row.delivery, 2);
    assert_int_equal(record(w, last_id, 1).parent_seq, 0);
    assert_int_equal(record(w, last_id, 1).delivery, 1);
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
    assert_string_equal(delivered(w, 5)->json, "null");
    fake_call(CM_CALL_TIMER, "", "", "\"soon\"");
    (void)delivered(w, 6);
    end_normally(w);
    HAS(w, "\"calls\":[]");
    assert_int_equal(record(w, last_id, 2).kind, CM_CALL_DESCRIBE);
    assert_int_equal(record(w, last_id, 4).delivery, 5);
    assert_int_equal(cm_connector_state(w->conns[1]), CM_CONN_READY);
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

static void a_large_result_is_cut_and_the_record_keeps_it(void **state)
{
    struct world *w = *state;
    cm_autobuf out = CM_BUF_INIT(1 << 20);

    limits.result_bytes = 6;
    start(w);
    id_of(w);
    fake_done("\"a\\u00e9\\u00e9\\u00e9\\n\"", "", "{}");
    HAS(w, "\"result\":\"a\xc3\xa9\xc3\xa9\"");
    HAS(w, "\"truncated\":{\"bytes\":8,\"shown\":5}}");
    HAS(w, "limits.resultBytes");
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &out, &w->err), CM_OK);
    assert_non_null(strstr(out.ptr, "\"result\":\"a\xc3\xa9\xc3\xa9\xc3\xa9\\n\""));
    start(w);
    fake_done("[1,2,3,4,5]", "", "{}");
    HAS(w, "\"result\":\"[1,2,3\"");
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
    HAS(w, "\"truncated\":{\"bytes\":78,\"shown\":0}}]");
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
    cm_autobuf out = CM_BUF_INIT(1 << 20);

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
    HAS(w, "\"error\":{\"name\":\"Error\",\"message\":\"no coffee\",\"code\":\"teapot\"}");
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

static void a_host_that_dies_during_a_call_leaves_it_unknown(void **state)
{
    struct world *w = *state;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        /* The store's locks belong to the process that opened it. */
        assert_int_equal(cm_store_open(w->where, &w->store, &w->err), CM_OK);
        open_runtime(w);
        start(w);
        fake_tool("local", "die", "{}");
        for (;;)
            (void)cm_loop_once(w->loop);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    cm_autobuf out = CM_BUF_INIT(1 << 20);
    cm_autobuf one = CM_BUF_INIT(1 << 20);
    char id[64] = "";

    assert_int_equal(cm_runtime_executions(w->rt, 0, &out, &w->err), CM_OK);
    assert_non_null(strstr(out.ptr, "\"status\":\"error\""));
    assert_non_null(strstr(out.ptr, "\"interrupted\""));
    memcpy(id, strstr(out.ptr, "exec_"), 5 + 16 + 1 + 36);
    assert_int_equal(cm_runtime_execution(w->rt, id, &one, &w->err), CM_OK);
    assert_non_null(strstr(one.ptr, "\"method\":\"die\",\"args\":{},\"state\":\"unknown\""));
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
        T(too_many_calls_end_the_run),
        T(too_many_timers_end_the_run),
        T(calls_beyond_those_in_flight_wait_their_turn),
        T(a_program_may_take_no_more_than_its_limits_when_it_queues),
        T(cancelling_leaves_a_call_with_effects_unknown),
        T(calls_nobody_awaited_are_named),
        T(a_large_result_is_cut_and_the_record_keeps_it),
        T(calls_do_not_smuggle_out_what_was_cut),
        T(a_programs_error_is_rebuilt_and_cannot_speak_for_the_host),
        T(a_result_that_is_no_value_is_an_error),
        T(a_killed_pass_keeps_its_log_and_names_its_last_call),
        T(secrets_are_taken_out_of_what_the_runtime_says),
        T(a_program_that_is_too_large_is_refused_before_there_is_a_row),
        T(nothing_is_sent_that_cannot_be_recorded),
        T(records_that_were_lost_are_not_claimed),
        T(what_another_process_decided_is_what_is_told),
        T(closing_the_runtime_ends_what_runs),
        T(a_single_call_is_an_execution_like_any_other),
        T(only_the_newest_executions_are_kept),
        T(the_record_shows_the_program_and_the_rule),
        T(a_host_that_dies_during_a_call_leaves_it_unknown),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
