/** Waiting for the disk on another thread: a sync that hangs, that fails, that serves many, and that is under way when everything ends. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "exec_world.h"

/* ---- the disk ---- */

static atomic_int n_begun, n_ended;
static atomic_bool hangs, fails;
static sem_t go_on;

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    atomic_fetch_add(&n_begun, 1);
    while (atomic_load(&hangs) && sem_wait(&go_on) != 0)
        ;
    int rc = atomic_exchange(&fails, false) ? -1 : (int)syscall(SYS_fdatasync, fd);

    if (rc < 0)
        errno = EIO;
    atomic_fetch_add(&n_ended, 1);
    return rc;
}

static void hang(void)
{
    fake_after = NULL; /* nobody waits for what does not come */
    atomic_store(&hangs, true);
}

static void release(void)
{
    atomic_store(&hangs, false);
    assert_int_equal(sem_post(&go_on), 0);
}

static int open_world(void **state)
{
    int rc = set_up(state);

    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    /* With the first write SQLite itself syncs the head of the log. */
    start(*state);
    end_normally(*state);
    atomic_store(&hangs, false);
    atomic_store(&fails, false);
    atomic_store(&n_begun, 0);
    atomic_store(&n_ended, 0);
    return rc;
}

/** A run whose call waits for a sync that hangs. */
static struct cm_pass *start_hanging(struct world *w)
{
    hang();
    start(w);
    (void)fake_tool("local", "keep", "{}");
    while (atomic_load(&n_begun) == 0)
        cm_loop_nowait(w->loop);
    assert_int_equal(w->n_kept, 0);
    return fake;
}

/* ---- other runs ---- */

static void note_fired(void *user)
{
    *(bool *)user = true;
}

static void while_a_sync_hangs_other_runs_go_on_and_time_passes(void **state)
{
    struct world *w = *state;
    struct cm_pass *first = start_hanging(w);
    bool fired = false;
    cm_auto(cm_timer) timer = cm_timer_new(w->loop, note_fired, &fired);

    /* The clock of every limit is a timer of this loop or the kernel's. */
    cm_timer_start(timer, 1);
    start(w);
    (void)fake_tool("local", "echo", "{\"a\":1}");
    assert_string_equal(delivered(w, 1)->json, "{\"a\":1}");
    WAIT_WHILE(w, !fired);
    assert_int_equal(atomic_load(&n_ended), 0);
    assert_int_equal(w->n_kept, 0);
    release();
    WAIT_WHILE(w, w->n_kept == 0); /* on the disk: sent */
    fake_after = settle;
    end_normally(w);
    fake = first;
    w->ended = false;
}

static void its_end_is_not_told_before_it_is_on_the_disk(void **state)
{
    struct world *w = *state;

    hang();
    start(w);
    fake_done("1", "", "{}");
    while (atomic_load(&n_begun) == 0)
        cm_loop_nowait(w->loop);
    for (int i = 0; i < 3; i++)
        cm_loop_nowait(w->loop);
    assert_false(w->ended);
    release();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

/* ---- one for many ---- */

static void one_sync_serves_everybody_who_asked_before_it_began(void **state)
{
    enum { CALLS = 12 }; /* twice that many may be in flight */
    struct world *w = *state;

    start(w);
    for (int i = 0; i < CALLS; i++)
        (void)fake_tool("local", "keep", "{}");
    assert_int_equal(w->n_kept, 0);
    WAIT_WHILE(w, w->n_kept < CALLS);
    assert_int_equal(atomic_load(&n_ended), 1);
    /* Those that come while one is under way share the next. */
    hang();
    int before = atomic_load(&n_begun);
    for (int i = 0; i < CALLS; i++) {
        (void)fake_tool("local", "strict", "{\"n\":1}");
        while (i == 0 && atomic_load(&n_begun) == before)
            cm_loop_nowait(w->loop);
        cm_loop_nowait(w->loop);
    }
    assert_int_equal(atomic_load(&n_begun), before + 1);
    w->ran = 0;
    release();
    WAIT_WHILE(w, w->ran < CALLS);
    assert_int_equal(atomic_load(&n_begun), before + 2);
    fake_after = settle;
    end_normally(w);
}

/* ---- failures ---- */

static void a_sync_that_fails_fails_those_who_waited_and_no_later_run(void **state)
{
    struct world *w = *state;
    cm_autofree char *log = cm_asprintf("%s-wal", strchr(w->where, ':') + 1);
    struct stat sb;

    start(w);
    atomic_store(&fails, true);
    (void)fake_tool("local", "keep", "{}");
    WAIT_WHILE(w, !w->ended);
    /* The end is believed once what may have been lost is in the database: nothing is left of the log. */
    assert_int_equal(stat(log, &sb), 0);
    assert_int_equal(sb.st_size, 0);
    assert_int_equal(w->n_kept, 0);
    assert_int_equal(w->state, CM_EXEC_ERROR);
    HAS(w, "\"code\":\"store_error\"");
    HAS(w, "sync the log to the disk");
    start(w);
    (void)fake_tool("local", "echo", "{}");
    (void)delivered(w, 1);
    end_normally(w);
    assert_int_equal(w->state, CM_EXEC_COMPLETED);
}

static void an_end_that_does_not_reach_the_disk_is_no_outcome(void **state)
{
    struct world *w = *state;

    start(w);
    atomic_store(&fails, true);
    fake_done("1", "", "{}");
    WAIT_WHILE(w, !w->ended);
    assert_string_equal(w->outcome, "");
    assert_int_equal(w->err.status, CM_E_IO);
}

/* ---- ends ---- */

static void what_is_cancelled_while_it_waits_is_not_sent(void **state)
{
    struct world *w = *state;

    (void)start_hanging(w);
    const char *id = id_of(w);
    cm_exec_cancel(w->exec);
    fake_sweep();
    release();
    WAIT_WHILE(w, !w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    assert_int_equal(w->n_kept, 0);
    assert_int_equal(record(w, id, 0).state, CM_CALL_CANCELLED);
}

static void *release_later(void *user)
{
    while (sem_wait(user) != 0)
        ;
    release();
    return NULL;
}

static void closing_waits_for_the_sync_that_is_under_way(void **state)
{
    struct world *w = *state;
    pthread_t thread;
    sem_t closing;

    (void)start_hanging(w);
    const char *id = id_of(w);
    assert_int_equal(sem_init(&closing, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, release_later, &closing), 0);
    assert_int_equal(sem_post(&closing), 0);
    cm_runtime_close(cm_steal(&w->rt));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(w->ended);
    assert_int_equal(w->state, CM_EXEC_CANCELLED);
    assert_int_equal(w->n_kept, 0);
    assert_int_equal(record(w, id, 0).state, CM_CALL_CANCELLED);
}

/* ---- the log ---- */

static bool count(void *user, const struct cm_exec_row *row)
{
    (void)row;
    ++*(int *)user;
    return true;
}

static void a_long_log_begins_anew_and_nothing_is_missing(void **state)
{
    enum { RUNS = 300 };
    struct world *w = *state;
    size_t longest = 0, last = 0;
    bool anew = false;
    int n = 0;

    limits.result_bytes = 1000;
    for (int i = 0; i < RUNS; i++) {
        cm_autofree char *big = cm_asprintf("\"%0*d\"", 20000, i);

        start(w);
        fake_done(big, "", "{}");
        assert_true(w->ended);
        while (cm_loop_once(w->loop)) {
        }
        last = cm_store_log_pages(w->store);
        anew = anew || last < longest;
        longest = last > longest ? last : longest;
    }
    assert_true(anew);
    cm_auto(cm_store) s = NULL;
    assert_int_equal(cm_store_open(w->where, &s, &w->err), CM_OK);
    assert_int_equal(cm_store_executions(s, NULL, RUNS, false, count, &n, &w->err), CM_OK);
    assert_int_equal(n, 5); /* max_executions */
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, open_world, tear_down)
    const struct CMUnitTest tests[] = {
        T(while_a_sync_hangs_other_runs_go_on_and_time_passes),
        T(its_end_is_not_told_before_it_is_on_the_disk),
        T(one_sync_serves_everybody_who_asked_before_it_began),
        T(a_sync_that_fails_fails_those_who_waited_and_no_later_run),
        T(an_end_that_does_not_reach_the_disk_is_no_outcome),
        T(what_is_cancelled_while_it_waits_is_not_sent),
        T(closing_waits_for_the_sync_that_is_under_way),
        T(a_long_log_begins_anew_and_nothing_is_missing),
    };

    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
