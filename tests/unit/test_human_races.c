/** Two people decide at once, or a person and the clock, or a person and the program: one of them wins, and the other is told. */
#include "human_world.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static const struct cm_str one_wipe = CM_STR("return (await t.wipe({n: 1})).n");
static const uint32_t first[] = {0}, second[] = {1};

#define ANY_WAY for (enum way way = HELD; way < N_WAYS; way++)

/** A program that waits. */
static void pause_one(struct world *w, struct waiter *k, enum way way, struct cm_str code)
{
    open_world(w, way, NULL);
    start(w, k, code);
    await_told(k);
    assert_int_equal(k->state, CM_EXEC_PAUSED);
    free(cm_steal(&k->outcome));
    go_the_way(w);
}

static cm_status approve(struct world *w, struct waiter *k, const uint32_t *seq, struct cm_err *err)
{
    const struct cm_decide d = {.id = w->id, .seqs = seq, .n_seqs = seq ? 1 : 0};

    *err = (struct cm_err){0};
    *k = (struct waiter){.w = w};
    return cm_runtime_approve(w->rt, &d, on_told, k, &k->exec, err);
}

static cm_status reject(struct world *w, struct waiter *k, const uint32_t *seq, struct cm_err *err)
{
    const struct cm_decide d = {.id = w->id, .seqs = seq, .n_seqs = seq ? 1 : 0, .reason = "no"};

    *err = (struct cm_err){0};
    *k = (struct waiter){.w = w};
    return cm_runtime_reject(w->rt, &d, on_told, k, &k->exec, err);
}

static void says(const struct cm_err *err, const char *words)
{
    if (!strstr(err->message, words))
        fail_msg("no '%s' in: %s", words, err->message);
}

static void ended(struct waiter *k, enum cm_exec_state state, const char *in_outcome)
{
    await_told(k);
    if (k->state != state || !k->outcome || !strstr(k->outcome, in_outcome))
        fail_msg("state %d: %s %s", (int)k->state, k->outcome ? k->outcome : "no outcome", k->err.message);
    free(cm_steal(&k->outcome));
}

static void effects(const struct world *w, const char *want)
{
    struct cm_str got = cm_buf_str(&w->effects);

    if (!cm_str_eq_z(got, want))
        fail_msg("'%.*s', not '%s'", CM_STR_ARG(got), want);
}

static void of_two_who_approve_one_does(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k, other;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(approve(&w, &k, first, &err), CM_OK);
        assert_int_equal(approve(&w, &other, first, &err), CM_E_CONFLICT);
        says(&err, "t.wipe is pending and approved already");
        ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
        assert_int_equal(approve(&w, &other, first, &err), CM_E_CONFLICT);
        says(&err, "is completed: it cannot be approved");
        assert_false(other.told);
        effects(&w, "wipe {\"n\":1}");
        close_world(&w);
    }
}

static void who_rejects_after_an_approval_is_too_late(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k, other;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(approve(&w, &k, first, &err), CM_OK);
        assert_int_equal(reject(&w, &other, first, &err), CM_E_CONFLICT);
        says(&err, "cannot be rejected: t.wipe is pending and approved already");
        assert_int_equal(reject(&w, &other, NULL, &err), CM_E_CONFLICT);
        says(&err, "no call of execution");
        ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
        effects(&w, "wipe {\"n\":1}");
        close_world(&w);
    }
}

static void who_approves_after_a_rejection_is_too_late(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k, other;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(reject(&w, &k, first, &err), CM_OK);
        assert_int_equal(approve(&w, &other, first, &err), CM_E_CONFLICT);
        says(&err, "t.wipe is rejected");
        ended(&k, CM_EXEC_REJECTED, "\"code\":\"rejected\"");
        effects(&w, "");
        close_world(&w);
    }
}

static const struct cm_str beside_slow =
    CM_STR("const [a, b] = await Promise.all([t.slow({n: 0}), t.wipe({n: 1})]); return b.n");

/** Started, one call with the connector, the other pending: the program has not paused. */
static void begin_beside_slow(struct world *w, struct waiter *k, enum way way)
{
    struct cm_err err = {0};
    bool waits = false;

    open_world(w, way, NULL);
    start(w, k, beside_slow);
    await_slow(w);
    while (!waits) {
        cm_autobuf out = CM_BUF_INIT(1u << 20);

        assert_int_equal(cm_runtime_pending(w->rt, w->id, &out, &err), CM_OK);
        waits = strstr(cm_buf_str(&out).ptr, "\"wipe\"") != NULL;
        if (!waits)
            assert_true(cm_loop_once(w->loop));
    }
    assert_false(k->told);
}

static void a_call_is_approved_while_others_are_in_flight(void **state)
{
    (void)state;
    struct world w;
    struct waiter k, human;
    struct cm_err err;

    begin_beside_slow(&w, &k, HELD);
    assert_int_equal(approve(&w, &human, second, &err), CM_OK);
    while (!strstr(cm_buf_str(&w.effects).ptr, "wipe"))
        assert_true(cm_loop_once(w.loop));
    assert_false(k.told || human.told);
    cm_native_reply_json(cm_steal(&w.slow), CM_STR("0"));
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1"); /* who started it, and who decided, are told the same */
    ended(&human, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "slow {\"n\":0}; wipe {\"n\":1}");
    close_world(&w);
}

static void a_call_is_rejected_while_others_are_in_flight(void **state)
{
    (void)state;
    struct world w;
    struct waiter k, human;
    struct cm_err err;

    begin_beside_slow(&w, &k, RELEASED);
    assert_int_equal(reject(&w, &human, NULL, &err), CM_OK); /* the whole of it */
    ended(&k, CM_EXEC_REJECTED, "\"state\":\"unknown\"");
    ended(&human, CM_EXEC_REJECTED, "t.wipe was rejected: no");
    effects(&w, "slow {\"n\":0}");
    close_world(&w);
}

static void a_decision_of_another_process_is_found_before_the_pause(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;
    struct cm_err err = {0};
    cm_store *elsewhere = NULL;
    const struct cm_decision_row row = {.approve = true, .at = 1};

    begin_beside_slow(&w, &k, RELEASED);
    assert_int_equal(cm_store_commit(w.store, false, &err), CM_OK);
    assert_int_equal(cm_store_open(w.where, &elsewhere, &err), CM_OK);
    assert_int_equal(cm_store_call_decide(elsewhere, w.id, 1, &row, &err), CM_OK);
    assert_int_equal(cm_store_commit(elsewhere, true, &err), CM_OK);
    cm_store_close(elsewhere);
    cm_native_reply_json(cm_steal(&w.slow), CM_STR("0")); /* now it stands still, and would pause */
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "slow {\"n\":0}; wipe {\"n\":1}");
    close_world(&w);
}

static void who_cancels_what_has_completed_is_told_so(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
        ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
        assert_int_equal(cm_runtime_cancel(w.rt, w.id, &err), CM_E_CONFLICT);
        says(&err, "is completed: it cannot be cancelled");
        close_world(&w);
    }
}

static void what_is_cancelled_right_after_its_approval_has_not_run(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
        assert_int_equal(cm_runtime_cancel(w.rt, w.id, &err), CM_OK);
        ended(&k, CM_EXEC_CANCELLED, "\"state\":\"cancelled\"");
        effects(&w, "");
        close_world(&w);
    }
}

static void of_expiry_and_approval_one_wins(void **state)
{
    (void)state;
    ANY_WAY
    {
        struct world w;
        struct waiter k;
        struct cm_err err;

        pause_one(&w, &k, way, one_wipe);
        assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
        assert_int_equal(cm_runtime_expire(w.rt, cm_now_ms() + TTL_MS + 1, &err), CM_OK);
        ended(&k, CM_EXEC_COMPLETED, "\"result\":1");

        start(&w, &k, one_wipe);
        await_told(&k);
        free(cm_steal(&k.outcome));
        go_the_way(&w);
        assert_int_equal(cm_runtime_expire(w.rt, cm_now_ms() + TTL_MS + 1, &err), CM_OK);
        assert_int_equal(approve(&w, &k, NULL, &err), CM_E_CONFLICT);
        says(&err, "is expired: it cannot be approved");
        effects(&w, "wipe {\"n\":1}");
        close_world(&w);
    }
}

static void a_paused_execution_is_not_deleted(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;
    struct cm_err err;

    pause_one(&w, &k, HELD, one_wipe);
    assert_int_equal(cm_store_delete(w.store, w.id, &err), CM_E_CONFLICT);
    says(&err, "is paused: it cannot be deleted: cancel it first");
    assert_int_equal(cm_runtime_cancel(w.rt, w.id, &err), CM_OK);
    assert_int_equal(cm_store_delete(w.store, w.id, &err), CM_OK);
    close_world(&w);
}

static void arguments_that_something_changed_in_the_store_are_not_approved(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;
    struct cm_err err;

    pause_one(&w, &k, RELEASED, one_wipe);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(w.where + strlen("sqlite:"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE calls SET args_json = '{\"n\":2}'", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(approve(&w, &k, first, &err), CM_E_CONFLICT);
    says(&err, "something has changed the recorded arguments of call 0, t.wipe");
    assert_int_equal(reject(&w, &k, first, &err), CM_OK);
    ended(&k, CM_EXEC_REJECTED, "rejected");
    effects(&w, "");
    close_world(&w);
}

/* ---- a held pass that is lost ---- */

static void nothing_is_lost_when_the_time_of_a_held_pass_is_over(void **state)
{
    (void)state;
    struct world w = {0};
    struct waiter k;
    struct cm_err err;

    open_world(&w, RELEASED, NULL);
    close_process(&w);
    w.grace_ms = 1;
    open_process(&w);
    start(&w, &k, one_wipe);
    await_told(&k);
    free(cm_steal(&k.outcome));
    while (w.rt->held)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "wipe {\"n\":1}");
    close_world(&w);
}

static void nothing_is_lost_when_the_worker_of_a_held_pass_dies(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;
    struct cm_err err;

    pause_one(&w, &k, HELD, one_wipe);
    assert_non_null(w.rt->held);
    assert_int_equal(kill((pid_t)cm_pass_pid(w.rt->held->pass->pass), SIGKILL), 0);
    while (w.rt->held)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "wipe {\"n\":1}");
    close_world(&w);
}

static void a_held_pass_that_another_process_has_overtaken_is_not_used(void **state)
{
    (void)state;
    struct world w, other;
    struct waiter k;
    struct cm_err err;
    static const struct cm_str twice =
        CM_STR("const a = await t.wipe({n: 1}); const b = await t.wipe({n: 2}); return [a.n, b.n]");

    pause_one(&w, &k, HELD, twice);
    open_world(&other, RELEASED, w.dir);
    memcpy(other.id, w.id, sizeof other.id);
    assert_int_equal(approve(&other, &k, first, &err),
                     CM_OK); /* as a process would that has not heard of the first */
    ended(&k, CM_EXEC_PAUSED, "\"seq\":1");
    effects(&other, "wipe {\"n\":1}");
    close_world(&other);
    assert_non_null(w.rt->held); /* still before the first call */
    assert_int_equal(approve(&w, &k, second, &err), CM_OK);
    assert_null(w.rt->held);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":[1,2]");
    effects(&w, "wipe {\"n\":2}");
    close_world(&w);
}

/* ---- a connector that has to start first ---- */

struct late {
    bool at_once;
    cm_connector *conn; /* while it starts */
    yyjson_doc *schema;
};

static void late_start(void *self, cm_connector *c)
{
    struct late *l = self;

    l->conn = c;
    if (l->at_once)
        cm_connector__ready(c);
}

static size_t late_methods(void *self, const struct cm_method **out)
{
    static const struct cm_method one = {
        .name = "wipe", .origin = "wipe", .description = "", .flags = CM_METHOD_REQUIRES_APPROVAL};

    (void)self;
    *out = &one;
    return 1;
}

static void late_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct late *l = self;

    (void)i, (void)output;
    input->root = input->node = yyjson_doc_get_root(l->schema);
}

static void late_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    (void)self, (void)i;
    cm_call__finish(call, args);
}

static void late_free(void *self)
{
    struct late *l = self;

    yyjson_doc_free(l->schema);
    free(l);
}

static struct late *add_late(struct world *w, bool at_once)
{
    static const struct cm_connector_ops ops = {.kind = "late",
                                                .start = late_start,
                                                .methods = late_methods,
                                                .schemas = late_schemas,
                                                .call = late_call,
                                                .free = late_free};
    struct late *l = cm_new(struct late);

    l->at_once = at_once;
    assert_int_equal(
        cm_json_parse(CM_STR("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
                      CM_JSON_STRICT, &l->schema, NULL),
        CM_OK);
    w->conns[1] = cm_connector_new(w->loop, &ops, l, "late", "a test", 0, 0, NULL);
    return l;
}

/** A new process whose connector is not ready, and a human who gives other arguments. */
static struct late *edit_late(struct world *w, struct waiter *k, const char *args)
{
    const struct cm_decide d = {.id = w->id, .seqs = first, .n_seqs = 1, .args_json = cm_str_of(args)};
    struct cm_err err = {0};
    struct late *l;

    close_process(w);
    cm_connector_free(w->conns[1]);
    l = add_late(w, false);
    open_process(w);
    *k = (struct waiter){.w = w};
    assert_int_equal(cm_runtime_approve(w->rt, &d, on_told, k, &k->exec, &err), CM_OK);
    assert_null(k->exec);
    assert_false(k->told);
    assert_non_null(l->conn);
    return l;
}

static void other_arguments_wait_for_the_connector_that_has_their_schema(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;

    open_world(&w, RELEASED, NULL);
    close_process(&w);
    (void)add_late(&w, true);
    open_process(&w);
    start(&w, &k, CM_STR("return (await late.wipe({n: 1})).n"));
    await_told(&k);
    assert_int_equal(k.state, CM_EXEC_PAUSED);
    free(k.outcome);

    cm_connector__ready(edit_late(&w, &k, "{\"n\":\"many\"}")->conn);
    await_told(&k); /* refused, and nothing is decided */
    assert_int_equal(k.err.status, CM_E_INVALID);
    says(&k.err, "late.wipe");

    (void)edit_late(&w, &k, "{\"n\":3}");
    cm_runtime_close(cm_steal(&w.rt)); /* told, not lost */
    assert_int_equal(k.err.status, CM_E_CANCELLED);

    cm_connector__ready(edit_late(&w, &k, "{\"n\":7}")->conn);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":7");
    cm_connector *late = w.conns[1];
    close_world(&w);
    cm_connector_free(late);
}

/* ---- another process ---- */

enum { ROUNDS = 9 };

/** What the two tell each other. */
struct line {
    char id[64];
};

static void write_line(int fd, const char *text)
{
    struct line l = {0};

    (void)snprintf(l.id, sizeof l.id, "%s", text);
    assert_int_equal(write(fd, &l, sizeof l), sizeof l);
}

static bool read_line(int fd, char out[64])
{
    struct line l;

    if (read(fd, &l, sizeof l) != sizeof l)
        return false;
    memcpy(out, l.id, sizeof l.id);
    return true;
}

/** In the child: approve what one is told of, and say whether that was done. */
static int other_process(const char *dir, const char *log, int in, int out)
{
    struct world w;

    (void)setenv("CMOCKA_TEST_ABORT", "1", 1); /* what fails here must not go on with the parent's tests */
    open_world(&w, RELEASED, dir);
    w.shared = fopen(log, "a");
    assert_non_null(w.shared);
    write_line(out, "ready");
    while (read_line(in, w.id)) {
        struct waiter k;
        struct cm_err err;
        cm_status st;

        write_line(out, "going");
        st = approve(&w, &k, first, &err);
        if (st == CM_OK)
            ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
        write_line(out, st == CM_OK ? "won" : err.message);
    }
    (void)fclose(w.shared);
    close_world(&w);
    close_sandbox();
    return 0;
}

static size_t count_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = 0;

    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        n += c == '\n';
    (void)fclose(f);
    return n;
}

/** Before anything else: the child must share nothing but the folder and the pipes. */
static void of_two_processes_one_wins(void **state)
{
    (void)state;
    char dir[] = "/tmp/cm-human-XXXXXX", said[64];
    int down[2], up[2], wstatus;
    unsigned won = 0;
    struct world w;

    assert_non_null(mkdtemp(dir));
    cm_autofree char *log = cm_asprintf("%s/effects", dir);
    cm_autofree char *clean = cm_asprintf("rm -r '%s'", dir);
    assert_int_equal(pipe(down), 0);
    assert_int_equal(pipe(up), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(down[1]);
        (void)close(up[0]);
        _exit(other_process(dir, log, down[0], up[1]));
    }
    (void)close(down[0]);
    (void)close(up[1]);
    assert_true(read_line(up[0], said));
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct waiter k, human;
        struct cm_err err;
        cm_status st;

        open_world(&w, i % 4 < 2 ? HELD : RELEASED, dir);
        w.shared = fopen(log, "a");
        start(&w, &k, one_wipe);
        await_told(&k);
        assert_int_equal(k.state, CM_EXEC_PAUSED);
        free(k.outcome);
        write_line(down[1], w.id);
        if (i % 2) /* a little later, for the other to win now and then */
            assert_true(read_line(up[0], said));
        if (i == ROUNDS - 1) /* and once it is alone */
            st = CM_E_CONFLICT;
        else
            st = approve(&w, &human, first, &err);
        if (st == CM_OK)
            ended(&human, CM_EXEC_COMPLETED, "\"result\":1");
        do
            assert_true(read_line(up[0], said));
        while (cm_z_eq(said, "going"));
        if ((st == CM_OK) == cm_z_eq(said, "won"))
            fail_msg("here %d %s; there %s", (int)st, err.message, said);
        won += st == CM_OK;
        assert_int_equal(count_lines(log), i + 1);
        (void)fclose(w.shared);
        close_world(&w);
    }
    print_message("# this process won %u of %d\n", won, ROUNDS);
    (void)close(down[1]);
    assert_int_equal(waitpid(child, &wstatus, 0), child);
    assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
    (void)close(up[0]);
    close_sandbox();
    assert_int_equal(system(clean), 0);
}

static int tear_down(void **state)
{
    (void)state;
    close_sandbox();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            of_two_processes_one_wins), /* while this process has nothing yet that a child would share */
        cmocka_unit_test(of_two_who_approve_one_does),
        cmocka_unit_test(who_rejects_after_an_approval_is_too_late),
        cmocka_unit_test(who_approves_after_a_rejection_is_too_late),
        cmocka_unit_test(a_call_is_approved_while_others_are_in_flight),
        cmocka_unit_test(a_call_is_rejected_while_others_are_in_flight),
        cmocka_unit_test(a_decision_of_another_process_is_found_before_the_pause),
        cmocka_unit_test(who_cancels_what_has_completed_is_told_so),
        cmocka_unit_test(what_is_cancelled_right_after_its_approval_has_not_run),
        cmocka_unit_test(of_expiry_and_approval_one_wins),
        cmocka_unit_test(a_paused_execution_is_not_deleted),
        cmocka_unit_test(arguments_that_something_changed_in_the_store_are_not_approved),
        cmocka_unit_test(nothing_is_lost_when_the_time_of_a_held_pass_is_over),
        cmocka_unit_test(nothing_is_lost_when_the_worker_of_a_held_pass_dies),
        cmocka_unit_test(a_held_pass_that_another_process_has_overtaken_is_not_used),
        cmocka_unit_test(other_arguments_wait_for_the_connector_that_has_their_schema),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
