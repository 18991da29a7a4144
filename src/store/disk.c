/*
 * What of the store is done on another thread: waiting for the disk, and moving the log into the database.
 *
 * A commit writes into the page cache and returns; the disk has it when an fdatasync of the log, which began afterwards, has returned. That
 * call needs nothing of SQLite's but the file, so it is made on a descriptor of our own (SQLite's must not be used on another thread; no
 * lock of its is on this file, so that closing ours lets go of none). A checkpoint waits for the disk twice, so it is made there too, on a
 * connection of its own, in the mode that waits for nobody: who writes goes on writing, and the log begins anew when a checkpoint has
 * come to its end.
 */
#include "base/fd.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define CHECKPOINT_PAGES 1000

/** After each commit: how long the log is. In place of SQLite's own, which would move it into the database here and now. */
static int on_commit(void *user, sqlite3 *db, const char *name, int pages)
{
    cm_store *s = user;

    (void)db, (void)name;
    s->log_pages = pages;
    return SQLITE_OK;
}

void cm_store_defer(cm_store *s, bool deferred)
{
    s->deferred = deferred;
    if (!s->path)
        return;
    if (!s->file)
        s->file = cm_strdup(sqlite3_db_filename(s->db, "main"));
    if (deferred)
        (void)sqlite3_wal_hook(s->db, on_commit, s);
    else
        (void)sqlite3_wal_autocheckpoint(s->db, CHECKPOINT_PAGES);
}

size_t cm_store_log_pages(const cm_store *s)
{
    return s->log_pages > 0 ? (size_t)s->log_pages : 0;
}

/** Named by SQLite, which follows links and does not move with the working directory. */
int cm_store_log_fd(cm_store *s, struct cm_err *err)
{
    if (!s->path || s->log_fd >= 0)
        return s->log_fd;
    const char *path = sqlite3_filename_wal(sqlite3_db_filename(s->db, "main"));

    s->log_fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->log_fd < 0)
        (void)cm_err_errno(err, errno, "open '%s'", path);
    return s->log_fd;
}

void cm_store_sync_failed(cm_store *s, int eno, struct cm_err *err)
{
    (void)cm_err_errno(&s->error, eno, "store '%s': sync the log to the disk", s->path ? s->path : "memory:");
    s->error.status = CM_E_IO;
    s->loss = s->error;
    s->losses++;
    if (err)
        *err = s->error;
}

bool cm_store_checkpoint(const cm_store *s, bool wait)
{
    sqlite3 *db = NULL;
    int all = 0, moved = -1;
    int rc = sqlite3_open_v2(s->file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
                             NULL);

    /* A connection finds out that there is a log when it first reads; then its own synchronous=FULL syncs the log, and after it the file. */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA schema_version",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK && wait)
        rc = sqlite3_busy_timeout(db, CM_STORE_BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_wal_checkpoint_v2(
            db, "main", wait ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &all, &moved);
    (void)sqlite3_close(db);
    return rc == SQLITE_OK && all == moved;
}
