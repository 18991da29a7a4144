/** What tests of a store's files share: records of one line, questions to the database, and other processes. */
#ifndef CM_TESTS_STORE_FILES_H
#define CM_TESTS_STORE_FILES_H

#include "store/internal.h"

#include <sched.h>
#include <sys/prctl.h>

#include "store_world.h"

MAYBE_UNUSED static cm_status begin(cm_store *s, const char *id, struct cm_err *err)
{
    const struct cm_exec_row row = {
        .id = id, .runtime = "default", .code = CM_STR("return 1"), .created_at = 1, .passes = 1};

    return cm_store_begin(s, &row, err);
}

MAYBE_UNUSED static cm_status call(cm_store *s, const char *id, uint32_t seq, bool sync, struct cm_err *err)
{
    const struct cm_call_row row = {.seq = seq,
                                    .parent_seq = -1,
                                    .connector = "c",
                                    .method = "m",
                                    .args = {CM_STR("{}"), CM_STR("")},
                                    .decision = "execute",
                                    .rule = "default",
                                    .state = CM_CALL_EXECUTING,
                                    .started_at = 1};

    return cm_store_call_intent(s, id, &row, sync, err);
}

MAYBE_UNUSED static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t n = -1;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    return n;
}

/** Calls fn in a child, and expects that it comes back. */
MAYBE_UNUSED static pid_t in_child(void (*fn)(int which), int which)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no writer outlives a test that has failed */
        fn(which);
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

MAYBE_UNUSED static void expect_fine(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
