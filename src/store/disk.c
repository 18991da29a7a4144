/*
 * What of the store is done on another thread: waiting for the disk, and moving the log into the database.
 *
 * A commit writes into the page cache and returns; the disk has it when an fdatasync of the log, which began afterwards, has returned. That
 * call needs nothing of SQLite's but the file, so it is made on a descriptor of our own (SQLite's must not be used on another thread; no
 * lock of its is on this file, so that closing ours lets go of none). A checkpoint waits for the disk twice, so it is made there too, on a
 * connection of its own, in the mode that waits for nobody: who writes goes on writing, and the log begins anew when a checkpoint has
 * come to its end.
 *
 * A log that grows with each record is slow to sync: its new blocks and its new length go to the disk with it, in a place of their own. So a
 * log that is used much is written ahead of its records, with zeros, and a sync of what lies within it is of that alone: half the time.
 */
#include "base/fd.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECKPOINT_PAGES 1000

/* Bytes: SQLite's log has a head, and each page with a head of its own (sqlite.org/walformat.html). */
#define LOG_HEAD    32
#define LOG_FRAME   (24 + 4096)

#define AHEAD_FROM  16 /* pages of the log: a command that runs one program writes fewer */
#define AHEAD_LOW   (64 << 10)
#define AHEAD_PAGES 64

/** After each commit: how long the log is. In place of SQLite's own, which would move it into the database here and now. */
static int on_commit(void *user, sqlite3 *db, const char *name, int pages)
{
    cm_store *s = user;

    (void)db, (void)name;
    if (pages < s->log_pages)
        s->log_ahead = 0; /* it has begun anew, and may have been cut */
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

/*
 * Harmless to everybody who reads the log: a page of it counts when its head has the salt and the running checksum of this log, and a head of
 * zeros names no page. Nor is anything overwritten: the group that is open keeps all others from writing and from cutting the log, and
 * what it has written itself lies before the end of the file. A write that fails is nobody's concern: where there is no
 * room, the record finds out.
 *
 * The length is asked for once in a step and not each time: a file whose times were looked at has them noted anew by its next write, and
 * then a sync writes its inode as well.
 */
void cm_store__write_ahead(cm_store *s)
{
    static char page[4096]; /* nobody writes to it */
    struct iovec zeros[AHEAD_PAGES];
    int64_t used = LOG_HEAD + (int64_t)s->log_pages * LOG_FRAME;
    struct stat sb;

    if (!s->deferred || s->log_fd < 0 || s->log_pages < AHEAD_FROM || s->log_ahead - used >= AHEAD_LOW)
        return;
    if (fstat(s->log_fd, &sb) != 0)
        return;
    s->log_ahead = sb.st_size;
    if (sb.st_size - used >= AHEAD_LOW)
        return;
    for (size_t i = 0; i < AHEAD_PAGES; i++)
        zeros[i] = (struct iovec){page, sizeof page};
    (void)!pwritev(s->log_fd, zeros, AHEAD_PAGES, sb.st_size);
    s->log_ahead += (int64_t)(AHEAD_PAGES * sizeof page);
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
