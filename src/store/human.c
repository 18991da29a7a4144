/*
 * What people do to executions: decide on calls, take one over, let one expire, undo calls, keep a program. Every change is conditional on
 * the state it came from, so that of two who do it at once one wins and the other is told what happened.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BACKUP_PAGES 256 /* copied at a time; between them others may write */

struct look {
    uint32_t seq;
    char text[192];
};

static bool look_at(void *user, const struct cm_call_row *row)
{
    struct look *look = user;

    if (row->seq != look->seq)
        return true;
    (void)snprintf(look->text, sizeof look->text, "%.60s.%.60s is %s%s", row->connector, row->method,
                   cm_call_state_text(row->state),
                   row->state == CM_CALL_PENDING && row->decided_at ? " and approved already" : "");
    return false;
}

cm_status cm_store__call_not(cm_store *s, const char *id, uint32_t seq, const char *what, struct cm_err *err)
{
    struct look look = {.seq = seq};
    struct cm_err state = {0};
    cm_status st = cm_store__not_in_state(s, id, what, &state);

    if (st == CM_E_CONFLICT)
        st = cm_store_calls(s, id, look_at, &look, err);
    else if (err)
        *err = state;
    if (st != CM_OK)
        return st;
    if (!look.text[0])
        return cm_err_set(err, CM_E_NOT_FOUND, "execution '%.100s' has no call %u", id, seq);
    return cm_err_set(err, CM_E_CONFLICT, "call %u of execution '%.100s' cannot be %s: %s, and %.200s", seq,
                      id, what, look.text, state.message);
}

cm_status cm_store_call_decide(cm_store *s, const char *id, uint32_t seq, const struct cm_decision_row *d,
                               struct cm_err *err)
{
    size_t changed = 0;
    cm_status st;

    if (d->approve)
        st = CM_STORE_WRITE(s, CM_SQL_CALL_APPROVE, &changed, err, CM_A_Z(id), CM_A_INT(seq), CM_A_INT(d->at),
                            CM_A_Z(d->by), CM_A_Z(d->reason), CM_A_OPT(d->args.json), CM_A_OPT(d->args.marks),
                            CM_A_Z(d->args_hash));
    else
        st = CM_STORE_WRITE(s, CM_SQL_CALL_REJECT, &changed, err, CM_A_Z(id), CM_A_INT(seq), CM_A_INT(d->at),
                            CM_A_Z(d->by), CM_A_Z(d->reason), CM_A_TEXT(d->outcome.json),
                            CM_A_TEXT(d->outcome.marks));
    if (st == CM_OK && changed == 0)
        st = cm_store__call_not(s, id, seq, d->approve ? "approved" : "rejected", err);
    return st;
}

cm_status cm_store_call_start(cm_store *s, const char *id, uint32_t seq, int64_t at, bool sync,
                              struct cm_err *err)
{
    size_t changed = 0;
    cm_status st =
        CM_STORE_WRITE(s, CM_SQL_CALL_START, &changed, err, CM_A_Z(id), CM_A_INT(seq), CM_A_INT(at));

    if (st == CM_OK && changed == 0)
        st = cm_store__call_not(s, id, seq, "sent", err);
    if (st != CM_OK)
        return st;
    return sync ? cm_store__settle(s, st, err) : CM_OK;
}

cm_status cm_store_call_deliver(cm_store *s, const char *id, uint32_t seq, int64_t delivery, int64_t at,
                                struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_CALL_DELIVER, &changed, err, CM_A_Z(id), CM_A_INT(seq),
                                  CM_A_INT(delivery), CM_A_INT(at));

    return st == CM_OK && changed == 0 ? cm_store__call_not(s, id, seq, "delivered", err) : st;
}

cm_status cm_store_call_ask(cm_store *s, const char *id, uint32_t seq, const char *rule, struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_CALL_ASK, &changed, err, CM_A_Z(id), CM_A_INT(seq), CM_A_Z(rule));

    return st == CM_OK && changed == 0 ? cm_store__call_not(s, id, seq, "asked about", err) : st;
}

/** The owner that may be replaced: NULL for a paused one, the name of a dead one. */
static cm_status read_owner(cm_store *s, const char *id, char **owner, bool *live, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    cm_status st = cm_store__bind(s, CM_SQL_EXEC_OWNER, (const struct cm_sql_arg[]){CM_A_Z(id)}, 1, &q, err);

    if (st != CM_OK)
        return st;
    if (sqlite3_step(q) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 1);
        bool running = cm_z_eq((const char *)sqlite3_column_text(q, 0), "running");

        *owner = name ? cm_strdup(name) : NULL;
        *live = running && name && ((s->owner && cm_z_eq(name, s->owner)) || !cm_store__is_dead(s, name));
    }
    cm_store__reset(q);
    return CM_OK;
}

static cm_status claim(cm_store *s, const char *id, int64_t now, bool asked, struct cm_err *err)
{
    cm_autofree char *owner = NULL;
    size_t changed = 0;
    bool live = false;
    cm_status st = cm_store__own(s, err);

    if (st == CM_OK)
        st = read_owner(s, id, &owner, &live, err);
    if (st == CM_OK && live)
        return cm_err_set(err, CM_E_CONFLICT, "execution '%.100s' is running%s", id,
                          s->owner && cm_z_eq(owner, s->owner) ? "" : " in another process");
    if (st == CM_OK)
        st = CM_STORE_WRITE(s, CM_SQL_EXEC_CLAIM, &changed, err, CM_A_Z(id), CM_A_Z(s->owner),
                            CM_A_INT(getpid()), CM_A_INT(now), CM_A_Z(owner), CM_A_INT(!asked));
    if (st == CM_OK && changed == 0)
        st = cm_store__not_in_state(s, id, "resumed", err);
    return cm_store__settle(s, st, err);
}

cm_status cm_store_claim(cm_store *s, const char *id, int64_t now, struct cm_err *err)
{
    return claim(s, id, now, true, err);
}

cm_status cm_store_claim_unasked(cm_store *s, const char *id, int64_t now, struct cm_err *err)
{
    return claim(s, id, now, false, err);
}

cm_status cm_store_hold(cm_store *s, struct cm_err *err)
{
    return cm_store__begin(s, err);
}

cm_status cm_store_calls_withdraw(cm_store *s, const char *id, int64_t now, struct cm_err *err)
{
    return CM_STORE_WRITE(s, CM_SQL_CALLS_WITHDRAW, NULL, err, CM_A_Z(id), CM_A_INT(now));
}

/** ---- expiry ---- */

static cm_status expire_one(cm_store *s, const char *id, int64_t before, int64_t now, bool *done,
                            struct cm_err *err)
{
    static const char error[] =
        "{\"name\":\"Error\",\"message\":\"Nobody approved or rejected what was pending in time "
        "(pausedTtlMs): it has not run.\",\"code\":\"expired\"}";
    size_t changed = 0;
    cm_status st = cm_store_mark(s, err);

    if (st == CM_OK)
        st = CM_STORE_WRITE(s, CM_SQL_EXEC_EXPIRE, &changed, err, CM_A_Z(id), CM_A_INT(before), CM_A_INT(now),
                            CM_A_Z(error));
    if (st == CM_OK && changed > 0)
        st = cm_store_calls_withdraw(s, id, now, err);
    if (st == CM_OK && changed > 0)
        st = cm_store_calls_abandon(s, id, err);
    if (st != CM_OK)
        cm_store_back(s);
    *done = st == CM_OK && changed > 0;
    return st;
}

cm_status cm_store_expire(cm_store *s, const char *runtime, int64_t before, int64_t now,
                          void (*fn)(void *user, const char *id), void *user, size_t *n, struct cm_err *err)
{
    enum { MANY = 256 }; /* the rest at the next look */
    char *ids[MANY];
    size_t n_ids = 0, n_done = 0;
    bool done[MANY] = {false};
    sqlite3_stmt *q = NULL;
    cm_status st = cm_store__bind(s, CM_SQL_STALE,
                                  (const struct cm_sql_arg[]){CM_A_Z(runtime), CM_A_INT(before)}, 2, &q, err);

    if (st != CM_OK)
        return st;
    while (n_ids < MANY && sqlite3_step(q) == SQLITE_ROW)
        ids[n_ids++] = cm_strdup((const char *)sqlite3_column_text(q, 0));
    cm_store__reset(q);
    for (size_t i = 0; i < n_ids && st == CM_OK; i++) {
        st = expire_one(s, ids[i], before, now, &done[i], err);
        n_done += done[i];
    }
    if (st == CM_OK && n_done > 0)
        st = cm_store__settle(s, st, err);
    else if (n_ids > 0) /* somebody else has moved them */
        (void)cm_store_commit(s, false, NULL);
    for (size_t i = 0; i < n_ids; i++) {
        if (st == CM_OK && done[i] && fn)
            fn(user, ids[i]);
        free(ids[i]);
    }
    if (st == CM_OK && n)
        *n = n_done;
    return st;
}

/** ---- snippets ---- */

cm_status cm_store_snippet_save(cm_store *s, const struct cm_snippet_row *row, struct cm_err *err)
{
    cm_status st = CM_STORE_WRITE(s, CM_SQL_SNIPPET_SAVE, NULL, err, CM_A_Z(row->runtime), CM_A_Z(row->name),
                                  CM_A_Z(row->description ? row->description : ""), CM_A_TEXT(row->code),
                                  CM_A_OPT(row->input_schema),
                                  CM_A_Z(row->connectors_json ? row->connectors_json : "[]"),
                                  CM_A_Z(row->execution ? row->execution : ""), CM_A_INT(row->saved_at));

    return st == CM_OK ? cm_store_commit(s, true, err) : st;
}

cm_status cm_store_snippet_delete(cm_store *s, const char *runtime, const char *name, struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_SNIPPET_DELETE, &changed, err, CM_A_Z(runtime), CM_A_Z(name));

    if (st == CM_OK)
        st = cm_store_commit(s, changed > 0, err);
    if (st == CM_OK && changed == 0)
        st = cm_err_set(err, CM_E_NOT_FOUND, "there is no snippet '%.100s' in runtime '%.100s'", name,
                        runtime);
    return st;
}

/** ---- backup ---- */

/**
 * One read transaction over all of it: a copy whose source is changed by another process would begin again, and never end where there is
 * always one that writes.
 */
static cm_status copy_pages(cm_store *s, sqlite3 *to, struct cm_err *err)
{
    int rc = sqlite3_exec(s->db, "BEGIN; SELECT 1 FROM executions LIMIT 1", NULL, NULL, NULL);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", s->db, "main") : NULL;

    if (rc == SQLITE_OK && !b)
        rc = SQLITE_NOMEM;
    while (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED) {
        rc = sqlite3_backup_step(b, BACKUP_PAGES);
        if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
            (void)sqlite3_sleep(5);
    }
    if (b && sqlite3_backup_finish(b) != SQLITE_OK && rc == SQLITE_DONE)
        rc = SQLITE_IOERR;
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    return rc == SQLITE_DONE ? CM_OK : cm_store__error(s, rc, "copy it", err);
}

cm_status cm_store_backup(cm_store *s, const char *to, struct cm_err *err)
{
    cm_autoclose int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    sqlite3 *db = NULL;
    cm_status st;

    if (fd >= 0 && (st = cm_store_commit(s, false, err)) != CM_OK) {
        (void)unlink(to);
        return st;
    }
    if (fd < 0 && errno == EEXIST)
        return cm_err_set(err, CM_E_CONFLICT, "'%s' exists: name a file that does not", to);
    if (fd < 0)
        return cm_err_errno(err, errno, "create '%s'", to);
    int rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    st = rc == SQLITE_OK ? copy_pages(s, db, err) : cm_store__error(s, rc, "open the copy", err);
    if (sqlite3_close(db) != SQLITE_OK && st == CM_OK)
        st = cm_err_set(err, CM_E_IO, "'%s': the copy could not be closed", to);
    if (st == CM_OK && fsync(fd) != 0)
        st = cm_err_errno(err, errno, "sync '%s'", to);
    if (st != CM_OK)
        (void)unlink(to);
    return st;
}
