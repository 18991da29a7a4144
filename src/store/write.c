/* Writing: what a run records, in the order in which it must be able to crash. */
#include "base/clock.h"
#include "store/internal.h"
#include "store/moves.h"

#include <unistd.h>

static const char *const exec_text[CM_EXEC_STATE_COUNT_] = {
#define TEXT_(n, t) [CM_EXEC_##n] = t,
    CM_EXEC_STATE_MAP(TEXT_)
#undef TEXT_
};
static const char *const call_text[CM_CALL_STATE_COUNT_] = {
#define TEXT_(n, t) [CM_CALL_##n] = t,
    CM_CALL_STATE_MAP(TEXT_)
#undef TEXT_
};

/* The numbers that CM_STORE_STATE_NUMBERS writes into SQL. */
_Static_assert(CM_EXEC_RUNNING == 0 && CM_EXEC_PAUSED == 1 && CM_EXEC_COMPLETED == 2 && CM_EXEC_ERROR == 3,
               "state numbers");
_Static_assert(CM_EXEC_REJECTED == 4 && CM_EXEC_ROLLED_BACK == 5 && CM_EXEC_CANCELLED == 6 &&
                   CM_EXEC_EXPIRED == 7,
               "state numbers");
_Static_assert(CM_EXEC_STATE_COUNT_ == 8, "a new state needs its number in CM_STORE_STATE_NUMBERS");

const char *cm_exec_state_text(enum cm_exec_state s)
{
    return (unsigned)s < CM_EXEC_STATE_COUNT_ ? exec_text[s] : "error";
}

const char *cm_call_state_text(enum cm_call_state s)
{
    return (unsigned)s < CM_CALL_STATE_COUNT_ ? call_text[s] : "unknown";
}

cm_status cm_store__failed(cm_store *s, cm_status st)
{
    if (s->in_group && sqlite3_get_autocommit(s->db))
        cm_store__lose(s);
    return st;
}

cm_status cm_store__settle(cm_store *s, cm_status st, struct cm_err *err)
{
    if (st == CM_OK && !s->deferred)
        return cm_store_commit(s, true, err);
    if (st == CM_OK) { /* it stands: what fails later in this group is not to take it back */
        s->marked = false;
        return CM_OK;
    }
    /* Nobody may turn a loop after this: an open group would keep every other process from writing. */
    cm_store_back(s);
    (void)cm_store_commit(s, false, NULL);
    return st;
}

cm_status cm_store_begin(cm_store *s, const struct cm_exec_row *row, struct cm_err *err)
{
    cm_status st = cm_store__own(s, err);

    if (st != CM_OK)
        return st;
    return CM_STORE_WRITE(
        s, CM_SQL_EXEC_INSERT, NULL, err, CM_A_Z(row->id), CM_A_Z(row->runtime),
        CM_A_Z(cm_exec_state_text(row->state)), CM_A_TEXT(row->code), CM_A_BLOB(row->seed, sizeof row->seed),
        CM_A_Z(row->connectors_json ? row->connectors_json : "[]"), CM_A_OPT(row->input.json),
        CM_A_OPT(row->input.marks), CM_A_INT(row->created_at), CM_A_INT(row->passes), CM_A_Z(s->owner),
        CM_A_INT(getpid()), CM_A_OPT(row->limits_json));
}

cm_status cm_store__not_in_state(cm_store *s, const char *id, const char *what, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    cm_status st = cm_store__bind(s, CM_SQL_EXEC_STATE, (const struct cm_sql_arg[]){CM_A_Z(id)}, 1, &q, err);

    if (st != CM_OK)
        return st;
    if (sqlite3_step(q) == SQLITE_ROW)
        st = cm_err_set(err, CM_E_CONFLICT, "execution '%.100s' is %.20s: it cannot be %s", id,
                        (const char *)sqlite3_column_text(q, 0), what);
    else
        st = cm_err_set(err, CM_E_NOT_FOUND, "there is no execution '%.100s'", id);
    cm_store__reset(q);
    return st;
}

cm_status cm_store_finish(cm_store *s, const char *id, unsigned from_mask, const struct cm_exec_row *row,
                          struct cm_err *err)
{
    bool running = row->state == CM_EXEC_RUNNING;
    /* Who has paused it may still hold its worker: a decision is brought there first. */
    bool owned = running || row->state == CM_EXEC_PAUSED;
    size_t changed = 0;
    cm_status st = running ? cm_store__own(s, err) : CM_OK;

    if (st == CM_OK)
        st = CM_STORE_WRITE(
            s, CM_SQL_EXEC_FINISH, &changed, err, CM_A_Z(id), CM_A_Z(cm_exec_state_text(row->state)),
            row->has_result ? CM_A_TEXT(row->result.json) : CM_A_NULL,
            row->has_result ? CM_A_TEXT(row->result.marks) : CM_A_NULL, CM_A_OPT(row->error_json),
            CM_A_OPT(row->logs_json), CM_A_OPT(row->warnings_json), CM_A_INT(row->updated_at),
            CM_A_INT(row->ended_at), CM_A_INT(row->passes), owned ? CM_A_Z(s->owner) : CM_A_NULL,
            owned ? CM_A_INT(getpid()) : CM_A_NULL, CM_A_INT(from_mask & cm_exec_moves_to(row->state)));
    if (st == CM_OK && changed == 0)
        st = cm_store__not_in_state(s, id, cm_exec_state_text(row->state), err);
    if (st != CM_OK)
        return st;
    return cm_store__settle(s, st, err);
}

static cm_status nothing_changed(cm_store *s, const char *id, uint32_t seq, const char *what,
                                 struct cm_err *err)
{
    cm_status st = cm_store__not_in_state(s, id, what, err);

    return st == CM_E_CONFLICT ? cm_err_prefix(err, "call %u", seq) : st;
}

cm_status cm_store_call_intent(cm_store *s, const char *id, const struct cm_call_row *row, bool sync,
                               struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(
        s, CM_SQL_CALL_INSERT, &changed, err, CM_A_Z(id), CM_A_INT(row->seq), CM_A_INT(row->kind),
        CM_A_INT(row->parent_seq), CM_A_Z(row->connector), CM_A_Z(row->method), CM_A_OPT(row->args.json),
        CM_A_OPT(row->args.marks), CM_A_Z(row->args_hash ? row->args_hash : ""), CM_A_Z(row->decision),
        CM_A_Z(row->rule), CM_A_INT(row->method_flags), CM_A_Z(cm_call_state_text(row->state)),
        CM_A_INT(row->failed), row->has_outcome ? CM_A_TEXT(row->outcome.json) : CM_A_NULL,
        row->has_outcome ? CM_A_TEXT(row->outcome.marks) : CM_A_NULL, CM_A_INT(row->delivery),
        CM_A_INT(row->delivered_at), CM_A_INT(row->started_at), CM_A_INT(row->ended_at), CM_A_INT(row->line),
        CM_A_INT(row->column), CM_A_OPT(row->code), CM_A_INT(row->ordinal));

    if (st == CM_OK && changed == 0)
        st = nothing_changed(s, id, row->seq, "given another call", err);
    if (st != CM_OK)
        return st;
    return sync ? cm_store__settle(s, st, err) : CM_OK;
}

cm_status cm_store_call_outcome(cm_store *s, const char *id, const struct cm_call_row *row,
                                struct cm_err *err)
{
    size_t changed = 0;
    cm_status st =
        CM_STORE_WRITE(s, CM_SQL_CALL_OUTCOME, &changed, err, CM_A_Z(id), CM_A_INT(row->seq),
                       CM_A_Z(cm_call_state_text(row->state)), CM_A_INT(row->failed),
                       row->has_outcome ? CM_A_TEXT(row->outcome.json) : CM_A_NULL,
                       row->has_outcome ? CM_A_TEXT(row->outcome.marks) : CM_A_NULL, CM_A_INT(row->delivery),
                       CM_A_INT(row->delivered_at), CM_A_INT(row->ended_at));

    if (st == CM_OK && changed == 0)
        st = nothing_changed(s, id, row->seq, "given this outcome (no such call is waiting for one)", err);
    return st;
}

cm_status cm_store_calls_abandon(cm_store *s, const char *id, struct cm_err *err)
{
    return CM_STORE_WRITE(s, CM_SQL_CALLS_ABANDON, NULL, err, CM_A_Z(id), CM_A_INT(cm_now_ms()));
}

cm_status cm_store_delete(cm_store *s, const char *id, struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_EXEC_DELETE, &changed, err, CM_A_Z(id));

    if (st == CM_OK && changed == 0)
        st = cm_store__not_in_state(s, id, "deleted: cancel it first", err);
    if (st != CM_OK) {
        /* Nobody may turn a loop after this: an open group would keep every other process from writing. */
        (void)cm_store_commit(s, false, NULL);
        return st;
    }
    st = cm_store_commit(s, true, err);
    /* What somebody wanted gone does not live on in the log. */
    if (st == CM_OK && s->path)
        (void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return st;
}

/** ---- pruning ---- */

/*
 * A batch ends the group's part of the loop's turn: some milliseconds, however much there is to delete. One execution goes as a whole, and
 * has 10,000 calls at most.
 */
#define PRUNE_EXECUTIONS 64
#define PRUNE_ROWS       1000

static cm_status prunable(cm_store *s, const char *runtime, size_t keep, int64_t *serials, size_t *n,
                          struct cm_err *err)
{
    const struct cm_sql_arg args[] = {CM_A_Z(runtime), CM_A_INT(keep > INT64_MAX ? INT64_MAX : keep),
                                      CM_A_INT(PRUNE_EXECUTIONS)};
    sqlite3_stmt *q = NULL;
    int rc = SQLITE_DONE;
    cm_status st = cm_store__bind(s, CM_SQL_PRUNABLE, args, CM_ARRAY_LEN(args), &q, err);

    if (st != CM_OK)
        return st;
    while (*n < PRUNE_EXECUTIONS && (rc = sqlite3_step(q)) == SQLITE_ROW)
        serials[(*n)++] = sqlite3_column_int64(q, 0);
    cm_store__reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? CM_OK
                                                 : cm_store__error(s, rc, "look for what to prune", err);
}

cm_status cm_store_prune(cm_store *s, const char *runtime, size_t keep, size_t *n, struct cm_err *err)
{
    int64_t serials[PRUNE_EXECUTIONS];
    size_t n_found = 0, n_done = 0;
    int before = sqlite3_total_changes(s->db); /* counts the calls that go with their execution */
    cm_status st = prunable(s, runtime, keep, serials, &n_found, err);

    for (size_t i = 0; i < n_found && st == CM_OK; i++) {
        size_t changed = 0;

        if (sqlite3_total_changes(s->db) - before >= PRUNE_ROWS)
            break;
        st = CM_STORE_WRITE(s, CM_SQL_PRUNE, &changed, err, CM_A_INT(serials[i]));
        n_done += changed;
    }
    if (st == CM_OK && n)
        *n = n_done;
    return st;
}
