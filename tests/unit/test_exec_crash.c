/** Executions whose host dies, with a sandbox that the test plays itself: at every point of a life, and what is asked about after it. */
#include "exec_world.h"

#include <sys/stat.h>

static void what_a_host_that_died_had_sent_is_asked_about(void **state)
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
    assert_non_null(strstr(out.ptr, "\"status\":\"paused\""));
    memcpy(id, strstr(out.ptr, "exec_"), 5 + 16 + 1 + 36);
    assert_int_equal(cm_runtime_execution(w->rt, id, &one, &w->err), CM_OK);
    assert_non_null(strstr(one.ptr, "\"method\":\"die\",\"args\":{},\"state\":\"pending\""));
    assert_non_null(strstr(one.ptr, "\"rule\":\"interrupted: it may have taken effect already\""));
    assert_non_null(strstr(one.ptr, "\"pending\":[{"));

    /* Whoever goes on with it does not send the call: nobody has said so. */
    w->ended = false;
    assert_int_equal(cm_exec_resume(w->rt, id, on_outcome, w, &w->exec, &w->err), CM_OK);
    fake_tool("local", "die", "{}");
    fake_wait();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_PAUSED);
    assert_int_equal(record(w, id, 0).state, CM_CALL_PENDING);
}

/* ---- a crash at every point ---- */

/** What the world outside has seen, in a file that survives the host. */
static void note(const char *dir, const char *what)
{
    cm_autofree char *path = cm_asprintf("%s/%s", dir, what);
    FILE *f = fopen(path, "a");

    assert_non_null(f);
    (void)fputc('x', f);
    assert_int_equal(fclose(f), 0);
}

static size_t noted(const char *dir, const char *what)
{
    cm_autofree char *path = cm_asprintf("%s/%s", dir, what);
    struct stat sb;

    return stat(path, &sb) == 0 ? (size_t)sb.st_size : 0;
}

static int crash_at, crash_point;

static void may_crash(void)
{
    if (++crash_point == crash_at)
        (void)raise(SIGKILL);
}

static struct world *crashing;

static void effect(void *user, cm_call *k, struct cm_str args)
{
    (void)user;
    (void)args;
    may_crash();
    note(crashing->dir, "effects");
    may_crash();
    cm_native_reply_json(k, CM_STR("1"));
    may_crash();
}

static void on_acknowledged(void *user, enum cm_exec_state state, struct cm_str json,
                            const struct cm_err *err)
{
    (void)user;
    (void)json;
    assert_null(err);
    assert_int_equal(state, CM_EXEC_COMPLETED);
    note(crashing->dir, "told");
    may_crash();
    _exit(0);
}

/** The life of a host with one program that has two effects; it crashes at crash_at, or ends. */
static void live(struct world *w)
{
    const struct cm_native_tool tool = {.name = "effect", .fn = effect};
    const struct cm_exec_spec spec = {.code = CM_STR("program"), .limits = limits};

    crashing = w;
    assert_int_equal(cm_store_open(w->where, &w->store, &w->err), CM_OK);
    assert_int_equal(cm_connector_native_add(w->conns[0], &tool, &w->err), CM_OK);
    open_runtime(w);
    assert_int_equal(cm_exec_start(w->rt, &spec, on_acknowledged, w, &w->exec, &w->err), CM_OK);
    may_crash();
    for (size_t i = 1; i <= 2; i++) {
        fake_tool("local", "effect", "{}");
        while (fake->n_got < i) {
            may_crash();
            (void)cm_loop_once(w->loop);
        }
        may_crash();
    }
    fake_done("1", "", "{}");
}

#define LAST_BYTES 96

struct ledger {
    size_t n, applied, unknown;
};

static bool count_calls(void *user, const struct cm_call_row *row)
{
    struct ledger *l = user;

    l->n++;
    l->applied += row->state == CM_CALL_APPLIED;
    l->unknown += row->state == CM_CALL_PENDING;
    return true;
}

static bool take_id(void *user, const struct cm_exec_row *row)
{
    (void)snprintf(user, LAST_BYTES, "%s %s", cm_exec_state_text(row->state), row->id);
    return false;
}

/** After the crash: every effect is in the record, at most one is in doubt, and what was told is so. */
static void examine(struct world *w)
{
    cm_auto(cm_store) s = NULL;
    struct ledger l = {0};
    char last[LAST_BYTES] = "", *id;
    size_t effects = noted(w->dir, "effects");

    assert_int_equal(cm_store_open(w->where, &s, &w->err), CM_OK);
    assert_int_equal(cm_store_executions(s, NULL, 1, false, take_id, last, &w->err), CM_OK);
    id = strchr(last, ' ');
    if (id)
        assert_int_equal(cm_store_calls(s, id + 1, count_calls, &l, &w->err), CM_OK);
    assert_int_equal(l.applied + l.unknown, l.n);
    assert_true(l.unknown <= 1);
    if (effects != l.applied && effects != l.applied + l.unknown)
        fail_msg("point %d: %zu effects, %zu applied, %zu unknown", crash_at, effects, l.applied, l.unknown);
    if (noted(w->dir, "told"))
        assert_int_equal(strncmp(last, "completed ", 10), 0);
    else if (id)
        assert_true(strncmp(last, "paused ", 7) == 0 || strncmp(last, "completed ", 10) == 0);
}

static void a_crash_at_any_point_leaves_a_record_that_is_true(void **state)
{
    struct world *w = *state;
    bool crashed = true;
    int n = 0;

    while (crashed) {
        cm_autofree char *clear = cm_asprintf("rm -f '%s'/*", w->dir);
        int status = 0;
        pid_t pid;

        crash_at = ++n;
        assert_int_equal(system(clear), 0);
        pid = fork();
        if (pid == 0)
            live(w);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        crashed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        assert_true(crashed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
        examine(w);
    }
    assert_true(n > 10);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_a_host_that_died_had_sent_is_asked_about),
        T(a_crash_at_any_point_leaves_a_record_that_is_true),
    };

    return cmocka_run_group_tests_name("exec_crash", tests, NULL, NULL);
}
