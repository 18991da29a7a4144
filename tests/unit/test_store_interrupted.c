/**
 * Executions whose process died: how often is counted, until somebody lets them go on. Writes that come too late or could not be written whole.
 * And stores of older versions, in which nobody counted.
 */
#include "store/store.h"

#include "store/schema.sql.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_world.h"

static void begin(cm_store *s, const char *id, int64_t at)
{
    struct cm_err err = {0};
    const struct cm_exec_row row = {
        .id = id, .runtime = "default", .code = CM_STR("return 1"), .created_at = at, .passes = 1};

    ok(cm_store_begin(s, &row, &err), &err);
}

/** What waits for nobody and was interrupted so often, in the order in which it is taken up: "ID×TIMES ". */
static const char *interrupted(cm_store *s, uint32_t from, uint32_t to)
{
    static char text[256];
    struct cm_err err = {0};
    struct cm_interrupted_row *rows = NULL;
    size_t n = 0;

    ok(cm_store_interrupted(s, "default", from, to, &rows, &n, &err), &err);
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s×%u ", rows[i].id, rows[i].times);
        free(rows[i].id);
    }
    free(rows);
    return text;
}

static bool see(void *user, const struct cm_exec_row *row)
{
    *(uint32_t *)user = row->interruptions;
    return false;
}

static uint32_t interruptions(cm_store *s, const char *id)
{
    struct cm_err err = {0};
    uint32_t n = 99;

    ok(cm_store_execution(s, id, see, &n, &err), &err);
    return n;
}

static void run_three(cm_store *s)
{
    struct cm_err err = {0};

    begin(s, "exec_1", 1);
    begin(s, "exec_2", 2);
    begin(s, "exec_3", 3);
    ok(cm_store_commit(s, false, &err), &err);
}

static void take_up_the_first(cm_store *s)
{
    struct cm_err err = {0};

    ok(cm_store_claim_unasked(s, "exec_1", 5, &err), &err);
}

static void deaths_are_counted_until_somebody_lets_it_go_on(void **state)
{
    struct cm_err err = {0};

    (void)state;
    in_a_process_that_is_killed(run_three);
    in_a_process_that_is_killed(take_up_the_first);
    in_a_process_that_is_killed(take_up_the_first);
    cm_auto(cm_store) s = open_store();

    assert_string_equal(interrupted(s, 0, 9), "exec_1×3 exec_2×1 exec_3×1 ");
    assert_string_equal(interrupted(s, 0, 2), "exec_2×1 exec_3×1 ");
    assert_string_equal(interrupted(s, 3, 3), "exec_1×3 ");
    ok(cm_store_claim_unasked(s, "exec_2", 6, &err), &err);
    assert_int_equal(interruptions(s, "exec_2"), 1);
    ok(cm_store_claim(s, "exec_1", 6, &err), &err);
    assert_int_equal(interruptions(s, "exec_1"), 0);
    assert_string_equal(interrupted(s, 0, 9), "exec_3×1 ");
}

static void what_ended_or_was_paused_by_its_own_process_is_not_interrupted(void **state)
{
    const struct cm_exec_row paused = {.id = "exec_1", .state = CM_EXEC_PAUSED, .updated_at = 2, .passes = 1};
    struct cm_err err = {0};

    (void)state;
    cm_auto(cm_store) s = open_store();
    begin(s, "exec_1", 1);
    ok(cm_store_finish(s, "exec_1", 1u << CM_EXEC_RUNNING, &paused, &err), &err);
    ok(cm_store_claim_unasked(s, "exec_1", 3, &err), &err);
    assert_int_equal(interruptions(s, "exec_1"), 0);
}

/** An open group would keep every other process from writing until the next turn of a loop that may never come. */
static void who_comes_too_late_leaves_the_store_writable(void **state)
{
    struct cm_err err = {0};

    (void)state;
    cm_auto(cm_store) s = open_store();
    cm_auto(cm_store) other = open_store();
    begin(other, "exec_1", 1);
    ok(cm_store_commit(other, false, &err), &err);
    assert_int_equal(cm_store_claim(s, "exec_1", 2, &err), CM_E_CONFLICT);
    begin(other, "exec_2", 2);
    ok(cm_store_commit(other, false, &err), &err);
    assert_int_equal(cm_store_claim_unasked(s, "exec_none", 2, &err), CM_E_NOT_FOUND);
    begin(other, "exec_3", 3);
}

static void what_is_taken_back_to_the_mark_was_not_written_and_the_rest_was(void **state)
{
    struct cm_err err = {0};

    (void)state;
    cm_auto(cm_store) s = open_store();
    begin(s, "exec_1", 1);
    ok(cm_store_mark(s, &err), &err);
    begin(s, "exec_2", 2);
    cm_store_back(s);
    cm_store_back(s); /* there is no mark any more */
    begin(s, "exec_3", 3);
    ok(cm_store_commit(s, false, &err), &err);
    cm_store_back(s);
    assert_int_equal(interruptions(s, "exec_1"), 0);
    assert_int_equal(interruptions(s, "exec_3"), 0);
    assert_int_equal(cm_store_execution(s, "exec_2", see, &(uint32_t){0}, &err), CM_E_NOT_FOUND);
    assert_int_equal(cm_store_losses(s), 0);
}

/** Columns and indices, as text. */
static char *shape(void)
{
    static const char sql[] =
        "SELECT group_concat(line, char(10)) FROM ("
        "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' ||"
        " ifnull(c.dflt_value, '') || ' ' || c.pk AS line"
        " FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        " UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        " UNION ALL SELECT 'version ' || user_version FROM pragma_user_version ORDER BY 1)";
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    char *text = cm_strdup((const char *)sqlite3_column_text(q, 0));
    (void)sqlite3_finalize(q);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return text;
}

/** The file as a program of that version leaves it, with one execution that has ended. */
static void make_version(size_t version)
{
    static const char row[] =
        "INSERT INTO executions(id, runtime, state, code, seed, connectors, created_at,"
        " updated_at, ended_at, passes) VALUES('exec_old', 'default', 'paused', 'return 1',"
        " zeroblob(16), '[]', 1, 2, 0, 1)";
    cm_autofree char *header = cm_asprintf("PRAGMA application_id = %d; PRAGMA user_version = %zu",
                                           CM_STORE_APPLICATION_ID, version);
    sqlite3 *db = NULL;

    (void)unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t v = 0; v < version; v++)
        assert_int_equal(sqlite3_exec(db, cm_store_migrations[v], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, header, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, row, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_store_of_any_older_version_becomes_a_current_one(void **state)
{
    cm_autofree char *fresh = NULL;

    (void)state;
    cm_store_close(open_store());
    fresh = shape();
    for (size_t version = 1; version < CM_ARRAY_LEN(cm_store_migrations); version++) {
        make_version(version);
        cm_auto(cm_store) s = open_store();
        cm_autofree char *migrated = shape();

        assert_string_equal(migrated, fresh);
        assert_string_equal(interrupted(s, 0, 0), "exec_old×0 ");
    }
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(deaths_are_counted_until_somebody_lets_it_go_on),
        T(what_ended_or_was_paused_by_its_own_process_is_not_interrupted),
        T(who_comes_too_late_leaves_the_store_writable),
        T(what_is_taken_back_to_the_mark_was_not_written_and_the_rest_was),
        T(a_store_of_any_older_version_becomes_a_current_one),
    };

    return cmocka_run_group_tests_name("store_interrupted", tests, NULL, NULL);
}
