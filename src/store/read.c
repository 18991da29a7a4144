/*
 * Reading. A row that something else has damaged (an unknown state, a missing text, a short seed) is shown as
 * what can be read of it and never stops a listing; whether the JSON inside parses is for the reader to find
 * out.
 */
#include "store/internal.h"

#include <limits.h>

#define CALL_COLUMNS 34 /* of CM_STORE_CALL_COLUMNS */

static struct cm_str col_str(sqlite3_stmt *q, int i)
{
    const void *p = sqlite3_column_blob(q, i); /* as bytes: no conversion of a text that is not UTF-8 */

    return (struct cm_str){p, p ? (size_t)sqlite3_column_bytes(q, i) : 0};
}

static const char *col_z(sqlite3_stmt *q, int i)
{
    const char *z = (const char *)sqlite3_column_text(q, i);

    return z ? z : "";
}

static struct cm_value col_value(sqlite3_stmt *q, int i)
{
    return (struct cm_value){col_str(q, i), col_str(q, i + 1)};
}

static enum cm_exec_state exec_state(const char *text)
{
    for (unsigned i = 0; i < CM_EXEC_STATE_COUNT_; i++)
        if (cm_z_eq(text, cm_exec_state_text(i)))
            return i;
    return CM_EXEC_ERROR;
}

static enum cm_call_state call_state(const char *text)
{
    for (unsigned i = 0; i < CM_CALL_STATE_COUNT_; i++)
        if (cm_z_eq(text, cm_call_state_text(i)))
            return i;
    return CM_CALL_UNKNOWN;
}

static void read_exec(sqlite3_stmt *q, struct cm_exec_row *row)
{
    struct cm_str seed = col_str(q, 3);

    *row = (struct cm_exec_row){
        .id = col_z(q, 0),
        .runtime = col_z(q, 1),
        .state = exec_state(col_z(q, 2)),
        .connectors_json = col_z(q, 4),
        .created_at = sqlite3_column_int64(q, 5),
        .updated_at = sqlite3_column_int64(q, 6),
        .ended_at = sqlite3_column_int64(q, 7),
        .passes = (uint32_t)sqlite3_column_int64(q, 8),
        .error_json = col_str(q, 9),
        .warnings_json = col_str(q, 10),
        .code = col_str(q, 11),
        .input = col_value(q, 12),
        .has_result = sqlite3_column_type(q, 14) != SQLITE_NULL,
        .result = col_value(q, 14),
        .logs_json = col_str(q, 16),
        .limits_json = col_str(q, 17),
        .interruptions = (uint32_t)sqlite3_column_int64(q, 18),
    };
    if (seed.len == sizeof row->seed)
        memcpy(row->seed, seed.ptr, sizeof row->seed);
}

static void read_call(sqlite3_stmt *q, struct cm_call_row *row)
{
    *row = (struct cm_call_row){
        .seq = (uint32_t)sqlite3_column_int64(q, 0),
        .kind = (uint8_t)sqlite3_column_int64(q, 1),
        .parent_seq = sqlite3_column_int64(q, 2),
        .connector = col_z(q, 3),
        .method = col_z(q, 4),
        .args = col_value(q, 5),
        .args_hash = col_z(q, 7),
        .decision = col_z(q, 8),
        .rule = col_z(q, 9),
        .method_flags = (unsigned)sqlite3_column_int64(q, 10),
        .state = call_state(col_z(q, 11)),
        .failed = sqlite3_column_int64(q, 12) != 0,
        .has_outcome = sqlite3_column_type(q, 13) != SQLITE_NULL,
        .outcome = col_value(q, 13),
        .delivery = sqlite3_column_int64(q, 15),
        .delivered_at = sqlite3_column_int64(q, 16),
        .started_at = sqlite3_column_int64(q, 17),
        .ended_at = sqlite3_column_int64(q, 18),
        .line = (uint32_t)sqlite3_column_int64(q, 19),
        .column = (uint32_t)sqlite3_column_int64(q, 20),
        .decided_at = sqlite3_column_int64(q, 21),
        .decided_by = col_z(q, 22),
        .reason = col_z(q, 23),
        .asked = col_value(q, 24),
        .asked_hash = col_z(q, 26),
        .code = col_str(q, 27),
        .reverted_at = sqlite3_column_int64(q, 28),
        .revert_error = col_z(q, 29),
        .ordinal = (uint32_t)sqlite3_column_int64(q, 30),
        .revert_started_at = sqlite3_column_int64(q, 31),
        .revert_by = col_z(q, 32),
        .dropped = (unsigned)sqlite3_column_int64(q, 33),
    };
}

/** Step through q, giving each row to exec_fn or call_fn; *n counts them. Resets q. */
static cm_status walk(cm_store *s, sqlite3_stmt *q, cm_exec_row_fn exec_fn, cm_call_row_fn call_fn,
                      void *user, size_t *n, struct cm_err *err)
{
    bool more = true;
    int rc = SQLITE_DONE;

    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        ++*n;
        if (exec_fn) {
            struct cm_exec_row row;

            read_exec(q, &row);
            more = exec_fn(user, &row);
        } else {
            struct cm_call_row row;

            read_call(q, &row);
            more = call_fn(user, &row);
        }
    }
    cm_store__reset(q);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? CM_OK : cm_store__error(s, rc, "read it", err);
}

cm_status cm_store_executions(cm_store *s, const char *runtime, size_t limit, bool with_code,
                              cm_exec_row_fn fn, void *user, struct cm_err *err)
{
    static const enum cm_store_sql which[2][2] = {{CM_SQL_EXEC_LIST_BRIEF, CM_SQL_EXEC_LIST},
                                                  {CM_SQL_EXEC_LIST_OF_BRIEF, CM_SQL_EXEC_LIST_OF}};
    const struct cm_sql_arg args[] = {CM_A_INT(limit > INT_MAX ? INT_MAX : limit), CM_A_Z(runtime)};
    sqlite3_stmt *q = NULL;
    size_t n = 0;
    cm_status st = cm_store__bind(s, which[runtime != NULL][with_code], args, runtime ? 2 : 1, &q, err);

    return st == CM_OK ? walk(s, q, fn, NULL, user, &n, err) : st;
}

cm_status cm_store_execution(cm_store *s, const char *id, cm_exec_row_fn fn, void *user, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    size_t n = 0;
    cm_status st = cm_store__bind(s, CM_SQL_EXEC_GET, (const struct cm_sql_arg[]){CM_A_Z(id)}, 1, &q, err);

    if (st == CM_OK)
        st = walk(s, q, fn, NULL, user, &n, err);
    if (st == CM_OK && n == 0)
        st = cm_err_set(err, CM_E_NOT_FOUND, "there is no execution '%.100s'", id);
    return st;
}

cm_status cm_store_calls(cm_store *s, const char *id, cm_call_row_fn fn, void *user, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    size_t n = 0;
    cm_status st = cm_store__bind(s, CM_SQL_CALLS_OF, (const struct cm_sql_arg[]){CM_A_Z(id)}, 1, &q, err);

    return st == CM_OK ? walk(s, q, NULL, fn, user, &n, err) : st;
}

cm_status cm_store_call(cm_store *s, const char *id, uint32_t seq, cm_call_row_fn fn, void *user,
                        struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    size_t n = 0;
    cm_status st = cm_store__bind(s, CM_SQL_CALL_GET, (const struct cm_sql_arg[]){CM_A_Z(id), CM_A_INT(seq)},
                                  2, &q, err);

    if (st == CM_OK)
        st = walk(s, q, NULL, fn, user, &n, err);
    if (st == CM_OK && n == 0)
        st = cm_err_set(err, CM_E_NOT_FOUND, "execution '%.100s' has no call %u", id, seq);
    return st;
}

cm_status cm_store_pending(cm_store *s, const char *runtime, const char *id, cm_pending_row_fn fn, void *user,
                           struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = true;
    int rc = SQLITE_DONE;
    cm_status st =
        cm_store__bind(s, id ? CM_SQL_PENDING_OF : CM_SQL_PENDING,
                       (const struct cm_sql_arg[]){CM_A_Z(runtime), CM_A_Z(id)}, id ? 2 : 1, &q, err);

    if (st != CM_OK)
        return st;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct cm_call_row row;

        read_call(q, &row);
        more = fn(user, col_z(q, CALL_COLUMNS), &row);
    }
    cm_store__reset(q);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? CM_OK
                                                 : cm_store__error(s, rc, "read what is pending", err);
}

cm_status cm_store_snippets(cm_store *s, const char *runtime, const char *name, cm_snippet_row_fn fn,
                            void *user, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = true, found = false;
    int rc = SQLITE_DONE;
    cm_status st = cm_store__bind(s, CM_SQL_SNIPPETS,
                                  (const struct cm_sql_arg[]){CM_A_Z(runtime), CM_A_Z(name)}, 2, &q, err);

    if (st != CM_OK)
        return st;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const struct cm_snippet_row row = {
            .runtime = col_z(q, 0),
            .name = col_z(q, 1),
            .description = col_z(q, 2),
            .code = col_str(q, 3),
            .input_schema = col_str(q, 4),
            .connectors_json = col_z(q, 5),
            .execution = col_z(q, 6),
            .saved_at = sqlite3_column_int64(q, 7),
        };

        found = true;
        more = fn(user, &row);
    }
    cm_store__reset(q);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        return cm_store__error(s, rc, "read the snippets", err);
    if (name && !found)
        return cm_err_set(err, CM_E_NOT_FOUND, "there is no snippet '%.100s' in runtime '%.100s'", name,
                          runtime);
    return CM_OK;
}
