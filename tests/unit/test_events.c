/**
 * What happens, as a consumer hears it: in order, without secrets, and without its being able to stall or break what it watches; and what
 * is told of a result.
 */
#include "exec_world.h"

#include "base/clock.h"

static struct cm_buf heard; /* every event, one line each, without number and time */
static int n_heard, n_lost;
static uint64_t last_number;
static void (*meanwhile)(void *user); /* what the consumer does when it hears of an end */

static void on_event(void *user, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *root, *key, *v;
    size_t i, max;

    if (cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        fail_msg("no JSON: %.*s", CM_STR_ARG(json));
    root = yyjson_doc_get_root(doc);
    n_heard++;
    n_lost +=
        cm_z_eq(cm_json_get_z(root, "event"), "lost") ? (int)yyjson_get_uint(cm_json_get(root, "count")) : 0;
    assert_true(yyjson_get_uint(cm_json_get(root, "number")) > last_number);
    last_number = yyjson_get_uint(cm_json_get(root, "number"));
    assert_true(yyjson_get_uint(cm_json_get(root, "at")) > 1600000000000u);
    yyjson_obj_foreach(root, i, max, key, v)
    {
        if (strstr(" number at startedAt executionId ", yyjson_get_str(key)))
            continue;
        cm_buf_addf(&heard, "%s%s=", i ? " " : "", yyjson_get_str(key));
        cm_json_write(&heard, v);
    }
    cm_buf_add_char(&heard, '\n');
    if (meanwhile && cm_z_eq(cm_json_get_z(root, "event"), "ended"))
        meanwhile(user);
}

static int set_up_events(void **state)
{
    int rc = set_up(state);
    struct world *w = *state;

    heard = CM_BUF_INIT(64u << 20);
    n_heard = n_lost = 0;
    last_number = 0;
    meanwhile = NULL;
    cm_runtime_on_event(w->rt, on_event, w);
    return rc;
}

static int tear_down_events(void **state)
{
    int rc = tear_down(state);

    cm_buf_done(&heard);
    return rc;
}

static void call(struct world *w, const char *method, const char *args)
{
    size_t n = fake->n_got;

    fake_tool("local", method, args);
    (void)delivered(w, n + 1);
}

static void say(const char *text)
{
    fake->ev.on_log(fake->user, fake, CM_LOG_WARN, cm_str_of(text));
}

/** Turn the loop until nothing more is heard. */
static void listen(struct world *w)
{
    int n;

    do {
        n = n_heard;
        cm_loop_nowait(w->loop);
    } while (n != n_heard);
}

#define HEARD(text)                                                            \
    do {                                                                       \
        if (!cm_z_eq(cm_buf_str(&heard).ptr, text))                            \
            fail_msg("expected\n%s\nheard\n%s", text, cm_buf_str(&heard).ptr); \
    } while (0)

/* ---- events ---- */

static void everything_that_happens_is_told_in_order(void **state)
{
    struct world *w = *state;

    start(w);
    call(w, "echo", "{\"n\":1}");
    say("half way");
    call(w, "refuse", "{}");
    fake_tool("local", "wipe", "{\"all\":true}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    listen(w);
    HEARD("event=\"started\" runtime=\"default\" pass=1\n"
          "event=\"decided\" seq=0 kind=\"tool\" connector=\"local\" method=\"echo\" decision=\"execute\" "
          "rule=\"default\"\n"
          "event=\"outcome\" seq=0 kind=\"tool\" connector=\"local\" method=\"echo\" state=\"applied\"\n"
          "event=\"log\" level=\"warn\" text=\"half way\"\n"
          "event=\"decided\" seq=1 kind=\"tool\" connector=\"local\" method=\"refuse\" decision=\"execute\" "
          "rule=\"default\"\n"
          "event=\"outcome\" seq=1 kind=\"tool\" connector=\"local\" method=\"refuse\" state=\"failed\" "
          "error={\"name\":\"Error\",\"message\":\"no coffee\",\"code\":\"teapot\"}\n"
          "event=\"decided\" seq=2 kind=\"tool\" connector=\"local\" method=\"wipe\" decision=\"pause\" "
          "rule=\"tool: requiresApproval\"\n"
          "event=\"pending\" seq=2 kind=\"tool\" connector=\"local\" method=\"wipe\" "
          "argsHash=\"sha256:ee646f2a10dbe8debf85bbb44999f780194dfeafa3f897c3720f921a479a94d3\"\n"
          "event=\"paused\" status=\"paused\"\n");
}

static void an_end_is_told_with_its_error_and_without_secrets(void **state)
{
    struct world *w = *state;

    start(w);
    call(w, "echo", "{\"token\":\"hunter2hunter2\"}");
    say("it is hunter2hunter2");
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"hunter2hunter2 was refused\"}}");
    listen(w);
    assert_null(strstr(cm_buf_str(&heard).ptr, "hunter2"));
    assert_non_null(
        strstr(cm_buf_str(&heard).ptr, "event=\"log\" level=\"warn\" text=\"it is [secret TOKEN]\"\n"));
    assert_non_null(
        strstr(cm_buf_str(&heard).ptr,
               "event=\"ended\" status=\"error\" error={\"name\":\"Error\",\"message\":\"[secret TOKEN] "
               "was refused\"}\n"));
}

static void a_secret_is_not_cut_in_half(void **state)
{
    struct world *w = *state;
    cm_autofree char *text = cm_malloc(8192 + 16);

    memset(text, 'x', 8192 - 6);
    memcpy(text + 8192 - 6, "hunter2hunter2", 15);
    start(w);
    say(text);
    end_normally(w);
    listen(w);
    assert_null(strstr(cm_buf_str(&heard).ptr, "hunter"));
}

static void start_and_cancel(void *user)
{
    struct world *w = user;

    meanwhile = NULL;
    start(w);
    cm_exec_cancel(w->exec);
}

static void a_consumer_may_start_and_cancel_runs(void **state)
{
    struct world *w = *state;

    meanwhile = start_and_cancel;
    start(w);
    end_normally(w);
    listen(w);
    WAIT_WHILE(w, !w->ended);
    listen(w);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    HEARD("event=\"started\" runtime=\"default\" pass=1\n"
          "event=\"ended\" status=\"completed\"\n"
          "event=\"started\" runtime=\"default\" pass=1\n"
          "event=\"ended\" status=\"cancelled\"\n");
}

static void close_it(void *user)
{
    struct world *w = user;

    meanwhile = NULL;
    cm_runtime_close(cm_steal(&w->rt));
}

static void a_consumer_may_close_the_runtime(void **state)
{
    struct world *w = *state;

    meanwhile = close_it;
    start(w);
    end_normally(w);
    WAIT_WHILE(w, w->rt != NULL);
    assert_null(w->rt);
}

static void what_is_left_is_told_when_the_runtime_is_closed(void **state)
{
    struct world *w = *state;

    start(w);
    cm_runtime_close(cm_steal(&w->rt));
    fake_sweep();
    HEARD("event=\"started\" runtime=\"default\" pass=1\nevent=\"ended\" status=\"cancelled\"\n");
}

static void who_does_not_keep_up_hears_how_much_was_lost(void **state)
{
    enum { LINES = 30000 };
    struct world *w = *state;
    int64_t before;

    limits.log_bytes = 10 << 20;
    start(w);
    for (int i = 0; i < LINES; i++)
        say("a line");
    assert_int_equal(n_heard, 0); /* nobody had to hear anything for that */
    end_normally(w);
    before = n_heard;
    cm_loop_nowait(w->loop);
    assert_in_range(n_heard - before, 1, 1000); /* the loop has other work */
    listen(w);
    assert_true(n_lost > 0);
    assert_int_equal(last_number, LINES + 3); /* started, ended, lost; a number for each */
    assert_int_equal(n_heard - 1 + n_lost, LINES + 2);
}

static void nobody_listens_any_more(void **state)
{
    struct world *w = *state;

    start(w);
    cm_runtime_on_event(w->rt, NULL, NULL);
    end_normally(w);
    listen(w);
    assert_int_equal(n_heard, 0);
}

/* ---- secrets in the record ---- */

static void the_record_holds_names_in_place_of_secrets(void **state)
{
    struct world *w = *state;
    cm_autobuf shown = CM_BUF_INIT(1 << 20);
    cm_autofree char *file = NULL;
    cm_autofree char *text = NULL;
    cm_autofree char *log = NULL;
    size_t len = 0, log_len = 0;

    start(w);
    id_of(w);
    call(w, "echo", "{\"token\":\"hunter2hunter2\"}");
    assert_string_equal(fake->got[0].json, "{\"token\":\"[secret TOKEN]\"}");
    say("log hunter2hunter2");
    fake_call(CM_CALL_STEP, "codemode", "s", "");
    fake->ev.on_step_end(fake->user, fake, 2, false,
                         (struct cm_value){CM_STR("\"hunter2hunter2\""), CM_STR("")});
    (void)delivered(w, 3);
    fake_done("{\"a\":\"hunter2hunter2\"}", "", "{\"warnings\":[\"hunter2hunter2\"]}");
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    LACKS(w, "hunter2");
    HAS(w, "\"result\":{\"a\":\"[secret TOKEN]\"}");
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &shown, &w->err), CM_OK);
    assert_null(strstr(cm_buf_str(&shown).ptr, "hunter2"));

    file = cm_asprintf("%s/codemode.db", w->dir);
    assert_int_equal(cm_read_file(file, 64u << 20, &text, &len, &w->err), CM_OK);
    assert_null(memmem(text, len, "hunter2", 7));
    file[strlen(file) - 3] = '\0';
    cm_autofree char *wal = cm_asprintf("%s.db-wal", file);
    assert_int_equal(cm_read_file(wal, 64u << 20, &log, &log_len, &w->err), CM_OK);
    assert_null(memmem(log, log_len, "hunter2", 7));
    assert_non_null(memmem(log, log_len, "[secret TOKEN]", 14));
}

/* ---- what is told of a result ---- */

static const char *answer; /* of the transformation; NULL: it fails */

static cm_status transform(void *user, const char *execution, struct cm_str result, struct cm_buf *told,
                           struct cm_err *err)
{
    (void)user;
    assert_memory_equal(execution, "exec_", 5);
    assert_true(cm_str_eq_z(result, "{\"rows\":[1,2,3]}"));
    if (!answer)
        return cm_err_set(err, CM_E_INVALID, "no idea");
    cm_buf_add_z(told, answer);
    return CM_OK;
}

static void reopen(struct world *w, const char *config, cm_transform_fn fn)
{
    const struct cm_config_lookup lookup = {.text = config};

    cm_runtime_close(w->rt);
    cm_config_free(w->config);
    if (cm_config_load(&lookup, &w->config, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
    const struct cm_runtime_opts opts = {
        .loop = w->loop,
        .store = w->store,
        .connectors = w->conns,
        .n_connectors = 2,
        .config = w->config,
        .secrets = w->secrets,
        .name = "default",
        .limits = CM_LIMITS_DEFAULT,
        .transform = fn,
    };
    assert_int_equal(cm_runtime_open(&opts, &w->rt, &w->err), CM_OK);
}

static void complete_rows(struct world *w)
{
    start(w);
    id_of(w);
    fake_done("{\"rows\":[1,2,3]}", "", "{}");
}

static void a_callback_says_what_is_told_and_the_record_stays(void **state)
{
    struct world *w = *state;
    cm_autobuf shown = CM_BUF_INIT(1 << 20);

    reopen(w, "{}", transform);
    answer = "{\"n\":3}";
    complete_rows(w);
    HAS(w, "\"result\":{\"n\":3}");
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &shown, &w->err), CM_OK);
    assert_non_null(strstr(cm_buf_str(&shown).ptr, "\"result\":{\"rows\":[1,2,3]}"));
    answer = "";
    complete_rows(w);
    HAS(w, "\"result\":{\"rows\":[1,2,3]}");
    LACKS(w, "warnings");
    answer = NULL;
    complete_rows(w);
    HAS(w, "\"result\":{\"rows\":[1,2,3]}");
    HAS(w,
        "\"warnings\":[\"The result was not transformed (transformResult) and is shown as it is: no idea\"]");
    answer = "{no json";
    complete_rows(w);
    HAS(w, "\"result\":{\"rows\":[1,2,3]}");
    HAS(w, "is shown as it is: ");
    start(w);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"no\"}}"); /* not asked */
    LACKS(w, "transformResult");
}

static void the_configuration_cuts_what_is_told(void **state)
{
    struct world *w = *state;
    cm_autobuf shown = CM_BUF_INIT(1 << 20);

    reopen(w, "{\"codemode\":{\"transformResult\":{\"maxBytes\":16}}}", NULL);
    start(w);
    id_of(w);
    fake_done("\"0123456789abcdefghij\"", "", "{}");
    HAS(w, "\"result\":\"0123456789abcdef\"");
    assert_int_equal(cm_runtime_execution(w->rt, last_id, &shown, &w->err), CM_OK);
    assert_non_null(strstr(cm_buf_str(&shown).ptr, "\"result\":\"0123456789abcdefghij\""));
}

static void keep_snippet(struct world *w)
{
    const struct cm_snippet_spec spec = {.name = "shorten", .execution = last_id};

    start(w);
    id_of(w);
    end_normally(w);
    if (cm_runtime_snippet_save(w->rt, &spec, &w->err) != CM_OK)
        fail_msg("%s", w->err.message);
}

static void a_snippet_says_what_is_told(void **state)
{
    struct world *w = *state;

    reopen(w, "{\"codemode\":{\"transformResult\":{\"snippet\":\"shorten\"}}}", NULL);
    start(w);
    id_of(w);
    end_normally(w); /* there is no such snippet yet */
    HAS(w, "\"warnings\":[\"The result was not transformed (transformResult) and is shown as it is: ");
    reopen(w, "{}", NULL);
    keep_snippet(w);
    reopen(w, "{\"codemode\":{\"transformResult\":{\"snippet\":\"shorten\"}}}", NULL);
    complete_rows(w);
    assert_false(w->ended); /* the snippet runs */
    assert_string_equal(fake->source, "program");
    fake_done("\"3 rows\"", "", "{}");
    assert_true(w->ended);
    HAS(w, last_id);
    HAS(w, "\"result\":\"3 rows\"");
    complete_rows(w);
    fake_throw("{\"error\":{\"name\":\"Error\",\"message\":\"too many\"}}");
    HAS(w, "\"result\":{\"rows\":[1,2,3]}");
    HAS(w, "is shown as it is: snippet 'shorten' ended as error: too many\"]");
    complete_rows(w);
    cm_exec_cancel(w->exec); /* who waits for it needs not wait for the snippet */
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
    HAS(w, "ended as cancelled");
    complete_rows(w);
    cm_runtime_close(cm_steal(&w->rt));
    assert_true(w->ended);
    HAS(w, "\"result\":{\"rows\":[1,2,3]}");
    fake_sweep();
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up_events, tear_down_events)
    const struct CMUnitTest tests[] = {
        T(everything_that_happens_is_told_in_order),
        T(an_end_is_told_with_its_error_and_without_secrets),
        T(a_secret_is_not_cut_in_half),
        T(a_consumer_may_start_and_cancel_runs),
        T(a_consumer_may_close_the_runtime),
        T(what_is_left_is_told_when_the_runtime_is_closed),
        T(who_does_not_keep_up_hears_how_much_was_lost),
        T(nobody_listens_any_more),
        T(the_record_holds_names_in_place_of_secrets),
        T(a_callback_says_what_is_told_and_the_record_stays),
        T(the_configuration_cuts_what_is_told),
        T(a_snippet_says_what_is_told),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
