/** How the store finds things: every statement by an index, however many executions there are; and pruning in batches. */
#include "store/internal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_world.h"

static void sql(cm_store *s, const char *text)
{
    char *error = NULL;

    if (sqlite3_exec(s->db, text, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s: %s", text, error);
}

/**
 * What may be read from one end to the other, since only what is wanted is in it: an index of the few that wait, run or are next to go,
 * or one whose order is that of the answer, which has a limit.
 */
static const struct {
    const char *step, *why;
} whole[] = {
    {"SCAN executions USING INDEX executions_by_age", "newest first, up to the limit"},
};

static bool is_fine(const char *step)
{
    if (strncmp(step, "SCAN ", 5) != 0 || cm_z_eq(step, "SCAN CONSTANT ROW"))
        return true;
    for (size_t i = 0; i < CM_ARRAY_LEN(whole); i++)
        if (cm_z_eq(step, whole[i].step))
            return true;
    return false;
}

static void look_at_plan(cm_store *s, const char *name, const char *text)
{
    cm_autofree char *question = cm_asprintf("EXPLAIN QUERY PLAN %s", text);
    sqlite3_stmt *q = NULL;

    if (sqlite3_prepare_v2(s->db, question, -1, &q, NULL) != SQLITE_OK)
        fail_msg("%s: %s", name, sqlite3_errmsg(s->db));
    while (sqlite3_step(q) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(q, 3);

        if (getenv("CM_PLANS"))
            printf("# %s: %s\n", name, step);
        if (!is_fine(step))
            fail_msg("%s reads a whole table: %s\n%s", name, step, text);
        /* The rows to be sorted would be those of every pending call, with all their arguments. */
        if (strstr(step, "TEMP B-TREE FOR ORDER BY"))
            fail_msg("%s sorts what an index could give in order: %s\n%s", name, step, text);
    }
    (void)sqlite3_finalize(q);
}

static void no_statement_reads_a_whole_table(void **state)
{
    cm_auto(cm_store) s = open_store();
    static const struct {
        const char *name, *text;
    } all[] = {
#define ROW_(name, text) {#name, text},
        CM_STORE_SQL_MAP(ROW_)
#undef ROW_
    };

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(all); i++)
        if (strncmp(all[i].text, "BEGIN", 5) != 0 && strncmp(all[i].text, "COMMIT", 6) != 0 &&
            strncmp(all[i].text, "ROLLBACK", 8) != 0)
            look_at_plan(s, all[i].name, all[i].text);
}

/** ---- pruning ---- */

/** `n` executions that have ended, oldest first, with `calls` calls each. */
static void fill(cm_store *s, int n, int calls)
{
    cm_autofree char *executions = cm_asprintf(
        "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d)"
        "INSERT INTO executions(id, runtime, state, code, seed, connectors, created_at, updated_at, "
        "ended_at, passes)"
        " SELECT printf('exec_%%016d', n), 'default', 'completed', '1', x'00', '[]', n, n, n, 1 FROM i",
        n);
    cm_autofree char *entries = cm_asprintf(
        "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < %d - 1)"
        "INSERT INTO calls(execution, seq, kind, parent_seq, connector, method, args_json, args_hash, "
        "decision, rule,"
        " method_flags, state, failed, outcome_json, delivery, delivered_at, started_at, ended_at, line, col)"
        " SELECT serial, n, 0, -1, 'a', 'b', '{}', '', 'execute', 'default', 0, 'applied', 0, '1', n + 1, 1, "
        "1, 1, 1, 1"
        " FROM executions, i",
        calls);

    sql(s, executions);
    if (calls > 0)
        sql(s, entries);
}

static int64_t count(cm_store *s, const char *text)
{
    sqlite3_stmt *q = NULL;
    int64_t n = -1;

    assert_int_equal(sqlite3_prepare_v2(s->db, text, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    return n;
}

static size_t prune(cm_store *s, size_t keep)
{
    struct cm_err err = {0};
    size_t n = 0;

    if (cm_store_prune(s, "default", keep, &n, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cm_store_commit(s, false, &err), CM_OK);
    return n;
}

static void much_is_pruned_in_batches_that_are_bounded(void **state)
{
    cm_auto(cm_store) s = open_store();
    int64_t left = 300 * 100;
    size_t batches = 0;

    (void)state;
    fill(s, 300, 100);
    while (prune(s, 10) > 0) {
        int64_t now = count(s, "SELECT count(*) FROM calls");

        assert_true(left - now <= 1000);
        left = now;
        batches++;
    }
    assert_int_equal(batches, 29); /* 290 executions: ten of them are the first whose rows are 1000 */
    assert_int_equal(left, 10 * 100);
    assert_int_equal(count(s, "SELECT min(created_at) FROM executions"), 291);
    assert_int_equal(count(s, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void one_execution_with_many_calls_is_a_batch_of_its_own(void **state)
{
    cm_auto(cm_store) s = open_store();

    (void)state;
    fill(s, 3, 5000);
    assert_int_equal(prune(s, 1), 1);
    assert_int_equal(prune(s, 1), 1);
    assert_int_equal(prune(s, 1), 0);
    assert_int_equal(count(s, "SELECT count(*) FROM calls"), 5000);
}

static void executions_without_calls_are_pruned_in_batches_too(void **state)
{
    cm_auto(cm_store) s = open_store();

    (void)state;
    fill(s, 200, 0);
    assert_int_equal(prune(s, 0), 64);
    assert_int_equal(prune(s, SIZE_MAX), 0);
    assert_int_equal(prune(s, 136), 0);
    assert_int_equal(prune(s, 135), 1);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(no_statement_reads_a_whole_table),
        T(much_is_pruned_in_batches_that_are_bounded),
        T(one_execution_with_many_calls_is_a_batch_of_its_own),
        T(executions_without_calls_are_pruned_in_batches_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
