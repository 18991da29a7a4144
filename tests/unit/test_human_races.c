/** Two people decide at once, or a person and the clock, or a person and the program: one of them wins, and the other is told. */
#include "human_world.h"

#include <sqlite3.h>
#include <sys/wait.h>

#define ANY_WAY for (enum way way = HELD; way < N_WAYS; way++)

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
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
