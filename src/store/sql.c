/* Statements, groups of writes, and what reaches the disk when (store.h, "Durability"). */
#include "store/internal.h"

#include <limits.h>

static const char *const sql_text[CM_SQL_COUNT_] = {
#define TEXT_(name, sql) [CM_SQL_##name] = sql,
    CM_STORE_SQL_MAP(TEXT_)
#undef TEXT_
};

struct cm_sql_arg cm_store__z(const char *z)
{
    return z ? CM_A_TEXT(cm_str_of(z)) : CM_A_NULL;
}

struct cm_sql_arg cm_store__opt(struct cm_str s)
{
    return s.len ? CM_A_TEXT(s) : CM_A_NULL;
}

cm_status cm_store__error(cm_store *s, int rc, const char *what, struct cm_err *err)
{
    static const struct {
        int rc;
        cm_status st;
        const char *hint;
    } known[] = {
        {SQLITE_FULL, CM_E_IO, "; the disk or its quota is full: free some space"},
        {SQLITE_BUSY, CM_E_UNAVAILABLE, "; another process keeps the store locked"},
        {SQLITE_NOMEM, CM_E_NOMEM, ""},
        {SQLITE_TOOBIG, CM_E_LIMIT, "; a value is larger than the store can hold"},
        {SQLITE_READONLY, CM_E_IO, "; check who owns the file and its folder"},
        {SQLITE_CORRUPT, CM_E_IO, "; move the file away to start with an empty store"},
        {SQLITE_NOTADB, CM_E_CONFLICT, "; this file is not a store: name another one"},
    };
    const char *where = s->path ? s->path : "memory:";
    const char *words = sqlite3_errmsg(s->db), *hint = "";
    cm_status st = CM_E_IO;
    int eno = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(s->db) : 0;

    for (size_t i = 0; i < CM_ARRAY_LEN(known); i++)
        if (known[i].rc == (rc & 0xff)) {
            st = known[i].st;
            words = sqlite3_errstr(rc);
            hint = known[i].hint;
        }
    /* What the system said is the part that somebody can act on: no descriptors, no inodes, no rights. */
    if (eno != 0)
        (void)cm_err_errno(&s->error, eno, "store '%s': %s: %s", where, what, words);
    else
        (void)cm_err_set(&s->error, st, "store '%s': %s: %s%s", where, what, words, hint);
    s->error.status = st;
    /* Some failures, of a reading statement too, undo the whole group. */
    if (s->in_group && s->db && sqlite3_get_autocommit(s->db))
        cm_store__lose(s);
    if (err)
        *err = s->error;
    return st;
}

static int bind_one(sqlite3_stmt *st, int i, const struct cm_sql_arg *a)
{
    const char *p = a->s.ptr ? a->s.ptr : "";

    switch (a->type) {
    case CM_ARG_NULL:
        return sqlite3_bind_null(st, i);
    case CM_ARG_INT:
        return sqlite3_bind_int64(st, i, a->n);
    case CM_ARG_TEXT:
        return sqlite3_bind_text64(st, i, p, a->s.len, SQLITE_STATIC, SQLITE_UTF8);
    case CM_ARG_BLOB:
        return sqlite3_bind_blob64(st, i, p, a->s.len, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

cm_status cm_store__bind(cm_store *s, enum cm_store_sql which, const struct cm_sql_arg *args, size_t n,
                         sqlite3_stmt **out, struct cm_err *err)
{
    sqlite3_stmt *st = s->stmts[which];
    int rc = SQLITE_OK;

    if (!st) {
        rc = sqlite3_prepare_v3(s->db, sql_text[which], -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);
        if (rc != SQLITE_OK)
            return cm_store__error(s, rc, "prepare a statement", err);
        s->stmts[which] = st;
    }
    for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
        rc = bind_one(st, (int)i + 1, &args[i]);
    if (rc != SQLITE_OK) {
        cm_store__reset(st);
        return cm_store__error(s, rc, "bind a value", err);
    }
    *out = st;
    return CM_OK;
}

void cm_store__reset(sqlite3_stmt *st)
{
    (void)sqlite3_reset(st);
    (void)sqlite3_clear_bindings(st);
}

cm_status cm_store__run(cm_store *s, enum cm_store_sql which, const struct cm_sql_arg *args, size_t n,
                        size_t *changed, struct cm_err *err)
{
    sqlite3_stmt *st = NULL;
    cm_status status = cm_store__bind(s, which, args, n, &st, err);
    int rc;

    if (status != CM_OK)
        return status;
    do
        rc = sqlite3_step(st);
    while (rc == SQLITE_ROW);
    if (rc != SQLITE_DONE)
        status = cm_store__error(s, rc, "write a record", err);
    else if (changed)
        *changed = (size_t)sqlite3_changes(s->db);
    cm_store__reset(st);
    return status;
}

cm_status cm_store__begin(cm_store *s, struct cm_err *err)
{
    cm_status st;

    if (s->in_group)
        return CM_OK;
    st = cm_store__run(s, CM_SQL_BEGIN, NULL, 0, NULL, err);
    s->in_group = st == CM_OK;
    return st;
}

void cm_store__lose(cm_store *s)
{
    if (!s->in_group)
        return;
    s->loss = s->error;
    s->in_group = s->marked = false;
    s->losses++;
    if (!sqlite3_get_autocommit(s->db)) /* some failures have rolled back already */
        (void)cm_store__run(s, CM_SQL_ROLLBACK, NULL, 0, NULL, NULL);
}

cm_status cm_store_mark(cm_store *s, struct cm_err *err)
{
    cm_status st = cm_store__begin(s, err);

    if (st == CM_OK)
        st = cm_store__run(s, CM_SQL_MARK, NULL, 0, NULL, err);
    s->marked = st == CM_OK;
    return st == CM_OK ? CM_OK : cm_store__failed(s, st);
}

void cm_store_back(cm_store *s)
{
    if (!s->marked)
        return;
    s->marked = false;
    /* Otherwise there is no telling what is in the group. */
    if (cm_store__run(s, CM_SQL_BACK, NULL, 0, NULL, NULL) != CM_OK)
        cm_store__lose(s);
}

/*
 * WAL with synchronous=NORMAL writes a commit to the log file without waiting for the disk; the log's own
 * sync then makes it, and every commit before it, durable. Asking the log's file to sync is what
 * synchronous=FULL does after each commit; here it happens only where somebody relies on it.
 */
static cm_status sync_log(cm_store *s, struct cm_err *err)
{
    sqlite3_file *log = NULL;
    int rc;

    if (!s->path)
        return CM_OK;
    rc = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (rc == SQLITE_OK && log && log->pMethods)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? CM_OK : cm_store__error(s, rc, "sync the log to the disk", err);
}

cm_status cm_store_commit(cm_store *s, bool sync, struct cm_err *err)
{
    if (s->in_group) {
        cm_store__write_ahead(s);
        cm_status st = cm_store__run(s, CM_SQL_COMMIT, NULL, 0, NULL, err);

        s->marked = false;
        if (st != CM_OK) {
            cm_store__lose(s);
            return st;
        }
        s->in_group = false;
    }
    if (sync) {
        cm_status st = sync_log(s, err);

        /* The kernel may have dropped the pages that it could not write: nobody can say what of it survives.
         */
        if (st != CM_OK) {
            s->loss = s->error;
            s->losses++;
        }
        return st;
    }
    return CM_OK;
}

unsigned cm_store_losses(const cm_store *s)
{
    return s->losses;
}

const struct cm_err *cm_store_loss(const cm_store *s)
{
    return &s->loss;
}
