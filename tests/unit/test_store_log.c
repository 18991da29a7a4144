/** The log of a store that is used much: how it grows, who else writes to it, and what a crash leaves of it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "store_files.h"

enum { GROUPS = 400 };

/** In place of the C library's: what is written ahead, and whether another could have written just then. */
static int n_ahead, n_unguarded;
static bool tries_to_write;

static bool others_can_write(void)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return rc == SQLITE_OK;
}

__attribute__((visibility("default"))) ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
    n_ahead++;
    if (tries_to_write)
        n_unguarded += others_can_write();
    return syscall(SYS_pwritev, fd, v, (long)n, at, 0L);
}

static void write_group(cm_store *s, int which, int n)
{
    struct cm_err err = {0};
    char id[32];

    (void)snprintf(id, sizeof id, "exec_w%d_%d", which, n);
    ok(begin(s, id, &err), &err);
    for (uint32_t i = 0; i < 10; i++)
        ok(call(s, id, i, false, &err), &err);
    ok(cm_store_commit(s, false, &err), &err);
}

static cm_store *open_deferred(void)
{
    cm_store *s = open_store();
    struct cm_err err = {0};

    cm_store_defer(s, true);
    if (cm_store_log_fd(s, &err) < 0)
        fail_msg("%s", err.message);
    return s;
}

static int64_t size_of(const char *file)
{
    struct stat sb;

    return stat(file, &sb) == 0 ? sb.st_size : -1;
}

static void expect_whole(sqlite3 *db, int64_t executions)
{
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
                     1);
    assert_int_equal(number(db, "SELECT count(*) FROM executions"), executions);
    assert_int_equal(number(db, "SELECT count(*) FROM calls"), executions * 10);
}

/* ---- how it grows ---- */

static void a_log_that_is_used_much_grows_in_steps_and_not_with_each_record(void **state)
{
    cm_auto(cm_store) s = open_deferred();
    cm_autofree char *log = cm_asprintf("%s-wal", path);
    int64_t last = 0;
    int grown = 0;

    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        write_group(s, 0, n);
        int64_t now = size_of(log);

        grown += now != last;
        last = now;
    }
    /* In steps of 256 KB, and some records before it counts as used much. */
    int64_t steps = (int64_t)cm_store_log_pages(s) * (4096 + 24) / (256 << 10);
    assert_in_range(steps, 4, GROUPS / 4);
    assert_in_range(grown, steps, steps + 10);
}

/** SQLite writes pages to the log when they are more than it keeps, before the group is committed. */
static void what_a_group_wrote_before_its_end_is_not_overwritten(void **state)
{
    cm_auto(cm_store) s = open_deferred();

    (void)state;
    assert_int_equal(sqlite3_exec(s->db, "PRAGMA cache_size = 10", NULL, NULL, NULL), SQLITE_OK);
    for (int n = 0; n < GROUPS; n++)
        write_group(s, 0, n);
    expect_whole(s->db, GROUPS);
}

static void a_command_that_writes_little_leaves_a_short_log(void **state)
{
    cm_autofree char *log = cm_asprintf("%s-wal", path);
    int64_t set_up_takes;

    (void)state;
    cm_store_close(open_deferred());
    set_up_takes = size_of(log);
    {
        cm_auto(cm_store) s = open_deferred();
        for (int n = 0; n < 2; n++)
            write_group(s, 0, n);
    }
    assert_in_range(size_of(log), set_up_takes, 128 << 10);
}

/* ---- what a crash leaves ---- */

static void what_was_written_ahead_is_nobodys_record(void **state)
{
    cm_auto(cm_store) s = open_deferred();
    cm_autofree char *copy =
        cm_asprintf("cp '%s' '%s/copy.db' && cp '%s-wal' '%s/copy.db-wal'", path, dir, path, dir);
    cm_autofree char *remove = cm_asprintf("rm '%s/copy.db'*", dir);
    cm_autofree char *there = cm_asprintf("sqlite:%s/copy.db", dir);

    (void)state;
    for (int n = 0; n < 40; n++) {
        cm_store *after = NULL;
        struct cm_err err = {0};

        write_group(s, 0, n);
        assert_int_equal(system(copy), 0);
        ok(cm_store_open(there, &after, &err), &err);
        expect_whole(after->db, n + 1);
        write_group(after, 1, n); /* it goes on where the log ended */
        expect_whole(after->db, n + 2);
        cm_store_close(after);
        assert_int_equal(system(remove), 0);
    }
}

/* ---- who else writes ---- */

static void nobody_else_can_write_while_it_is_written_ahead(void **state)
{
    cm_auto(cm_store) s = open_deferred();

    (void)state;
    n_ahead = n_unguarded = 0;
    tries_to_write = true;
    for (int n = 0; n < 40; n++)
        write_group(s, 0, n);
    tries_to_write = false;
    assert_true(n_ahead > 2);
    assert_int_equal(n_unguarded, 0);
    expect_whole(s->db, 40);
}

static void writes_much(int which)
{
    cm_store *s = open_deferred();

    for (int n = 0; n < GROUPS; n++)
        write_group(s, which, n);
    cm_store_close(s);
}

static void cuts_the_log(int which)
{
    cm_store *s = open_deferred();

    (void)which;
    for (int n = 0; n < 200; n++) {
        (void)cm_store_checkpoint(s, true);
        (void)sched_yield();
    }
    cm_store_close(s);
}

static void processes_that_write_ahead_of_one_log_while_it_is_cut_lose_nothing(void **state)
{
    pid_t pids[] = {in_child(writes_much, 0), in_child(writes_much, 1), in_child(cuts_the_log, 2)};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(pids); i++)
        expect_fine(pids[i]);
    cm_auto(cm_store) s = open_store();
    expect_whole(s->db, GROUPS * 2);
}

/** One group after the other, until it is killed. */
static void writes_for_ever(int which)
{
    cm_store *s = open_store();

    for (int n = 0;; n++)
        write_group(s, which, n);
}

static void a_backup_comes_to_its_end_however_much_others_write(void **state)
{
    cm_autofree char *to = cm_asprintf("%s/copy.db", dir);
    cm_auto(cm_store) s = open_store();
    struct cm_err err = {0};
    sqlite3 *db = NULL;
    pid_t pids[2];

    (void)state;
    /* Enough that others have changed it many times before it is copied. */
    assert_int_equal(sqlite3_exec(s->db,
                                  "CREATE TABLE ballast(x); INSERT INTO ballast SELECT zeroblob(2000000) FROM"
                                  " (SELECT 1 FROM sqlite_schema LIMIT 8)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (int i = 0; i < 2; i++)
        pids[i] = in_child(writes_for_ever, i);
    while (number(s->db, "SELECT count(*) FROM executions") < 20)
        (void)sched_yield();
    (void)alarm(60);
    ok(cm_store_backup(s, to, &err), &err);
    (void)alarm(0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
    assert_int_equal(sqlite3_open(to, &db), SQLITE_OK);
    int64_t copied = number(db, "SELECT count(*) FROM executions");

    assert_true(copied >= 20);
    expect_whole(db, copied);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_log_that_is_used_much_grows_in_steps_and_not_with_each_record),
        T(what_a_group_wrote_before_its_end_is_not_overwritten),
        T(a_command_that_writes_little_leaves_a_short_log),
        T(what_was_written_ahead_is_nobodys_record),
        T(nobody_else_can_write_while_it_is_written_ahead),
        T(processes_that_write_ahead_of_one_log_while_it_is_cut_lose_nothing),
        T(a_backup_comes_to_its_end_however_much_others_write),
    };

    return cmocka_run_group_tests_name("store_log", tests, NULL, NULL);
}
