/** The files of a store: whose they are, who may read them, what somebody else has put in their place, and who else opens them. */
#include "store/internal.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_files.h"

/** In place of the C library's: what somebody does between the making of a lock file and its locking. */
static void (*before_lock)(int fd);
__attribute__((visibility("default"))) int flock(int fd, int operation)
{
    void (*fn)(int) = before_lock;

    before_lock = NULL;
    if (fn)
        fn(fd);
    return (int)syscall(SYS_flock, fd, operation);
}

static int set_up_unwatched(void **state)
{
    before_lock = NULL;
    return set_up(state);
}

/** ---- who may read ---- */

static void every_file_of_a_store_is_private_whatever_the_umask(void **state)
{
    mode_t mask = umask(0);
    cm_auto(cm_store) s = open_store();
    struct cm_err err = {0};
    const struct dirent *entry;
    unsigned n = 0;

    (void)state;
    ok(begin(s, "exec_1", &err), &err);
    ok(cm_store_commit(s, true, &err), &err);
    (void)umask(mask);
    DIR *d = opendir(dir);
    while ((entry = readdir(d))) {
        struct stat sb;

        if (entry->d_name[0] == '.')
            continue;
        assert_int_equal(fstatat(dirfd(d), entry->d_name, &sb, AT_SYMLINK_NOFOLLOW), 0);
        if ((sb.st_mode & 07777) != 0600)
            fail_msg("%s has mode %o", entry->d_name, (unsigned)sb.st_mode & 07777);
        n++;
    }
    (void)closedir(d);
    assert_int_equal(n, 4); /* the file, its log and the log's index, and the lock of this process */
}

static void a_folder_that_everybody_may_write_into_is_refused(void **state)
{
    cm_store *s = NULL;
    struct cm_err err = {0};

    (void)state;
    assert_int_equal(chmod(dir, 0777), 0);
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "everybody may write"));
    assert_int_equal(access(path, F_OK), -1);
    /* As /tmp is: there only the owner of a file may replace it. */
    assert_int_equal(chmod(dir, 01777), 0);
    cm_store_close(open_store());
}

static void the_file_of_another_user_is_refused(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

    (void)state;
    if (geteuid() != 0) {
        print_message("# only root can make the file of another user\n");
        skip();
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(suffixes); i++) {
        cm_autofree char *name = cm_asprintf("%s%s", path, suffixes[i]);
        cm_store *s = NULL;
        struct cm_err err = {0};
        int fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);

        assert_true(fd >= 0);
        assert_int_equal(fchown(fd, 12345, (gid_t)-1), 0);
        assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
        assert_non_null(strstr(err.message, "another user"));
        assert_non_null(strstr(err.message, name));
        (void)close(fd);
        assert_int_equal(unlink(name), 0);
    }
}

/** ---- what somebody has put in its place ---- */

static void a_link_in_place_of_what_lies_beside_the_file_is_refused(void **state)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    cm_autofree char *victim = cm_asprintf("%s/victim", dir);

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(suffixes); i++) {
        cm_autofree char *name = cm_asprintf("%s%s", path, suffixes[i]);
        cm_store *s = NULL;
        struct cm_err err = {0};
        struct stat sb;
        int fd = open(victim, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, "mine", 4), 4);
        assert_int_equal(symlink(victim, name), 0);
        assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
        assert_non_null(strstr(err.message, name));
        assert_int_equal(fstat(fd, &sb), 0);
        assert_int_equal(sb.st_size, 4);
        assert_int_equal(sb.st_mode & 0777, 0644);
        (void)close(fd);
        assert_int_equal(unlink(name), 0);
    }
}

static void what_is_no_file_is_refused(void **state)
{
    cm_store *s = NULL;
    struct cm_err err = {0};

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_not_equal(cm_store_open(where, &s, &err), CM_OK);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(rmdir(path), 0);
}

/** ---- locks ---- */

static char swept[256];

static void sweep_it(int fd)
{
    char link[64];
    ssize_t len;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, swept, sizeof swept - 1);
    assert_true(len > 0);
    swept[len] = '\0';
    assert_int_equal(unlink(swept), 0);
}

/** Who holds the lock of a file that is gone would be taken for dead. */
static void a_lock_that_is_swept_away_before_it_is_held_is_made_anew(void **state)
{
    cm_auto(cm_store) s = open_store();
    struct cm_err err = {0};

    (void)state;
    before_lock = sweep_it;
    ok(begin(s, "exec_1", &err), &err);
    ok(cm_store_commit(s, true, &err), &err);
    assert_true(swept[0] != '\0');
    assert_null(strstr(swept, s->owner));
    cm_auto(cm_store) other = open_store();
    assert_false(cm_store__is_dead(other, s->owner));
}

static void runs_and_is_killed(int which)
{
    cm_store *s = open_store();
    const struct cm_exec_row row = {.id = "exec_1", .state = CM_EXEC_COMPLETED, .updated_at = 2};
    cm_autofree char *socket = NULL;

    (void)which;
    ok(begin(s, "exec_1", NULL), NULL);
    ok(cm_store_finish(s, "exec_1", 1u << CM_EXEC_RUNNING, &row, NULL), NULL);
    socket = cm_store_own_socket(s);
    assert_true(open(socket, O_CREAT | O_RDWR | O_CLOEXEC, 0600) >= 0);
    (void)raise(SIGKILL);
}

static unsigned beside(const char *suffix)
{
    const struct dirent *entry;
    DIR *d = opendir(dir);
    unsigned n = 0;

    while ((entry = readdir(d)))
        n += strlen(entry->d_name) > strlen(suffix) &&
             cm_z_eq(entry->d_name + strlen(entry->d_name) - strlen(suffix), suffix);
    (void)closedir(d);
    return n;
}

static void what_a_process_left_that_was_killed_while_nothing_ran_is_removed(void **state)
{
    int status = 0;
    pid_t pid = in_child(runs_and_is_killed, 0);

    (void)state;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(beside(".owner"), 1);
    assert_int_equal(beside(".sock"), 1);
    cm_auto(cm_store) living = open_store();
    ok(begin(living, "exec_2", NULL), NULL);
    ok(cm_store_commit(living, false, NULL), NULL);
    cm_store_close(open_store());
    assert_int_equal(beside(".owner"), 1); /* the living one's */
    assert_int_equal(beside(".sock"), 0);
}

/** ---- several at once ---- */

static void opens_and_writes(int which)
{
    char id[32];
    struct cm_err err = {0};
    cm_store *s = NULL;
    cm_status st = cm_store_open(where, &s, &err);

    (void)snprintf(id, sizeof id, "exec_new_%d", which);
    if (st == CM_OK)
        st = begin(s, id, &err);
    for (uint32_t i = 0; i < 20 && st == CM_OK; i++)
        st = call(s, id, i, i % 2 != 0, &err);
    if (st == CM_OK)
        st = cm_store_commit(s, true, &err);
    if (st != CM_OK) {
        print_message("# %s\n", err.message);
        _exit(1);
    }
    _exit(0); /* without closing it */
}

static void all_at_once(int n)
{
    pid_t pids[16];

    for (int i = 0; i < n; i++)
        pids[i] = in_child(opens_and_writes, i);
    for (int i = 0; i < n; i++)
        expect_fine(pids[i]);
}

static void many_processes_that_open_a_new_store_at_once_all_get_it(void **state)
{
    (void)state;
    all_at_once(12);
    cm_auto(cm_store) s = open_store();
    assert_int_equal(number(s->db, "SELECT count(*) FROM executions"), 12);
    assert_int_equal(number(s->db, "SELECT count(*) FROM calls"), 240);
    assert_int_equal(
        number(s->db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/** ---- older versions ---- */

static void load(const char *name)
{
    cm_autofree char *file = cm_asprintf("%s/tests/cases/store/%s", getenv("CM_SOURCE_ROOT"), name);
    cm_autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
    cm_autofree char *text = NULL;
    struct cm_err err = {0};
    sqlite3 *db = NULL;
    size_t len = 0;

    assert_true(fd >= 0);
    ok(cm_read_fd(fd, 1 << 20, &text, &len, &err), &err);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/** Every column and index, as text; what a column is called, holds, and defaults to, in its order. */
static char *shape(sqlite3 *db)
{
    sqlite3_stmt *q = NULL;
    char *text;

    assert_int_equal(
        sqlite3_prepare_v2(
            db,
            "SELECT group_concat(line, char(10)) FROM (SELECT m.name || '.' || c.name || ' ' || c.type || ' "
            "' ||"
            " c.\"notnull\" || ' ' || ifnull(c.dflt_value, '') || ' ' || c.pk AS line FROM sqlite_schema m,"
            " pragma_table_info(m.name) c WHERE m.type = 'table'"
            " UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1)",
            -1, &q, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    text = cm_strdup((const char *)sqlite3_column_text(q, 0));
    (void)sqlite3_finalize(q);
    return text;
}

static bool see_old(void *user, const struct cm_exec_row *row)
{
    enum cm_exec_state *states = user;

    /* Numbers of the file's rows, oldest first; this comes newest first. */
    states[3 - states[4]++] = row->state;
    return true;
}

static bool see_kinds(void *user, const struct cm_exec_row *row)
{
    struct cm_str *marks = user;

    assert_non_null(strstr(row->result.json.ptr, "18446744073709551616"));
    marks->len = row->result.marks.len;
    return true;
}

static void a_store_that_an_older_program_left_is_read_and_goes_on(void **state)
{
    enum cm_exec_state states[5] = {0};
    const struct cm_decision_row d = {.approve = true, .at = 5, .by = "ada"};
    struct cm_err err = {0};
    struct cm_str marks = {0};
    cm_autofree char *fresh = NULL, *migrated = NULL;

    (void)state;
    {
        cm_auto(cm_store) s = open_store();
        fresh = shape(s->db);
    }
    (void)unlink(path);
    load("version1.sql");
    cm_auto(cm_store) s = open_store();
    migrated = shape(s->db);
    assert_string_equal(migrated, fresh);
    ok(cm_store_executions(s, NULL, 10, true, see_old, states, &err), &err);
    assert_int_equal(states[4], 4);
    assert_int_equal(states[0], CM_EXEC_COMPLETED);
    assert_int_equal(states[1], CM_EXEC_ERROR);
    assert_int_equal(states[2], CM_EXEC_PAUSED);
    assert_int_not_equal(states[3], CM_EXEC_RUNNING); /* its process is gone */
    ok(cm_store_execution(s, "exec_0001796062838094_e9e42143-2fdd-42ba-905a-3f41ce76a6d4", see_kinds, &marks,
                          &err),
       &err);
    assert_true(marks.len > 0);
    ok(cm_store_call_decide(s, "exec_0001796062838395_aec6cfb2-931b-4967-9f09-d2312b6c6afb", 0, &d, &err),
       &err);
    ok(cm_store_claim(s, "exec_0001796062838395_aec6cfb2-931b-4967-9f09-d2312b6c6afb", 6, &err), &err);
    ok(cm_store_call_start(s, "exec_0001796062838395_aec6cfb2-931b-4967-9f09-d2312b6c6afb", 0, 7, true, &err),
       &err);
    assert_int_equal(
        number(s->db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    assert_int_equal(number(s->db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void many_processes_that_open_an_older_store_at_once_migrate_it_once(void **state)
{
    (void)state;
    load("version1.sql");
    all_at_once(12);
    cm_auto(cm_store) s = open_store();
    assert_int_equal(number(s->db, "SELECT count(*) FROM executions"), 16);
    assert_int_equal(
        number(s->db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/** ---- a file system of one's own ---- */

/** In a child: a small file system is mounted at dir. Ends the child with 77 where that may not be done. */
static void mount_small(const char *options)
{
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", dir, "tmpfs", 0, options) != 0)
        _exit(77);
}

static void expect_done(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# needs a mount namespace\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void on_a_read_only_one(int which)
{
    struct cm_err err = {0};
    cm_store *s = NULL;

    (void)which;
    mount_small("mode=700");
    cm_store_close(open_store());
    assert_int_equal(mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_IO);
    assert_non_null(strstr(err.message, "Read-only file system"));
    assert_non_null(strstr(err.message, path));
}

static void a_store_on_a_read_only_file_system_is_refused_with_the_reason(void **state)
{
    (void)state;
    expect_done(in_child(on_a_read_only_one, 0));
}

/** Fills the file system, and tries everything; then there is room again. */
static void on_a_full_one(int which)
{
    cm_autofree char *filler = cm_asprintf("%s/filler", dir);
    char block[4096] = {1};
    struct cm_err err = {0};
    cm_status st = CM_OK;
    uint32_t n = 0;

    (void)which;
    mount_small("mode=700,size=1m");
    cm_auto(cm_store) s = open_store();
    ok(begin(s, "exec_1", &err), &err);
    ok(call(s, "exec_1", n++, true, &err), &err);
    int fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    while (write(fd, block, sizeof block) > 0)
        ;
    (void)close(fd);
    while (n < 10000 && (st = call(s, "exec_1", n, true, &err)) == CM_OK)
        n++;
    assert_int_equal(st, CM_E_IO);
    assert_non_null(strstr(err.message, "full"));
    /* What was said to be recorded is, and another process can read it. */
    assert_int_equal(number(s->db, "SELECT count(*) FROM calls"), n);
    struct cm_err second = {0};
    cm_store *other = NULL;
    if (cm_store_open(where, &other, &second) == CM_OK)
        assert_int_equal(number(other->db, "SELECT count(*) FROM calls"), n);
    cm_store_close(other);
    assert_int_equal(unlink(filler), 0);
    ok(call(s, "exec_1", n, true, &err), &err);
    assert_int_equal(number(s->db, "SELECT count(*) FROM calls"), n + 1);
    assert_int_equal(
        number(s->db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

static void a_full_file_system_loses_nothing_that_was_recorded(void **state)
{
    (void)state;
    expect_done(in_child(on_a_full_one, 0));
}

static void on_a_full_one_from_the_start(int which)
{
    cm_autofree char *filler = cm_asprintf("%s/filler", dir);
    char block[4096] = {1};
    struct cm_err err = {0};
    cm_store *s = NULL;

    (void)which;
    mount_small("mode=700,size=64k");
    int fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    while (write(fd, block, sizeof block) > 0)
        ;
    (void)close(fd);
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(unlink(filler), 0);
    assert_int_equal(mount(NULL, dir, NULL, MS_REMOUNT, "size=4m"), 0);
    cm_store_close(open_store());
}

static void a_store_that_could_not_be_made_for_want_of_room_can_be_made_later(void **state)
{
    (void)state;
    expect_done(in_child(on_a_full_one_from_the_start, 0));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up_unwatched, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_file_of_a_store_is_private_whatever_the_umask),
        T(a_folder_that_everybody_may_write_into_is_refused),
        T(the_file_of_another_user_is_refused),
        T(a_link_in_place_of_what_lies_beside_the_file_is_refused),
        T(what_is_no_file_is_refused),
        T(a_lock_that_is_swept_away_before_it_is_held_is_made_anew),
        T(what_a_process_left_that_was_killed_while_nothing_ran_is_removed),
        T(many_processes_that_open_a_new_store_at_once_all_get_it),
        T(a_store_that_an_older_program_left_is_read_and_goes_on),
        T(many_processes_that_open_an_older_store_at_once_migrate_it_once),
        T(a_store_on_a_read_only_file_system_is_refused_with_the_reason),
        T(a_full_file_system_loses_nothing_that_was_recorded),
        T(a_store_that_could_not_be_made_for_want_of_room_can_be_made_later),
    };

    return cmocka_run_group_tests_name("store_files", tests, NULL, NULL);
}
