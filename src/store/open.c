/* Opening a store: where it is, who may read it, which version it has, how it behaves (store.h,
 * "Durability"). */
#include "base/fd.h"
#include "store/internal.h"
#include "store/schema.sql.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION   ((int64_t)CM_ARRAY_LEN(cm_store_migrations))
#define VALUE_MAX (256 << 20) /* one value in one column: four times the largest frame */
#define LOG_KEPT  (1 << 20)   /* bytes of the log that are left for the next opening, which reads them all */

/** What every connection sets, and why. */
static const char *const pragmas[] = {
    "PRAGMA synchronous = NORMAL",          /* sql.c syncs the log where somebody relies on it */
    "PRAGMA foreign_keys = ON",             /* calls go with their execution */
    "PRAGMA trusted_schema = OFF",          /* a file from elsewhere runs no functions of ours */
    "PRAGMA cell_size_check = ON",          /* a damaged page is an error, not a wrong answer */
    "PRAGMA mmap_size = 0",                 /* an I/O error is an error, not a signal */
    "PRAGMA cache_size = -8192",            /* KiB, as needed: inner pages of a large store stay */
    "PRAGMA journal_size_limit = 16777216", /* the log shrinks again after a large result */
    "PRAGMA secure_delete = FAST", /* what was deleted is overwritten where that costs no extra write */
};

static cm_status exec_sql(cm_store *s, const char *sql, const char *what, struct cm_err *err)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? CM_OK : cm_store__error(s, rc, what, err);
}

/** One number from one row, e.g. a pragma's. */
static cm_status query_int(cm_store *s, const char *sql, int64_t *out, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);

    if (rc == SQLITE_OK) {
        rc = sqlite3_step(q);
        if (rc == SQLITE_ROW)
            *out = sqlite3_column_int64(q, 0);
    }
    (void)sqlite3_finalize(q);
    return rc == SQLITE_ROW ? CM_OK : cm_store__error(s, rc, "read the header", err);
}

/** ---- whose the files are: they hold what programs sent and got ---- */

/** In a folder that everybody may write into, what lies there may be replaced by anybody at any time, unless its sticky bit forbids it. */
static cm_status check_folder(const char *path, const char *dir, struct cm_err *err)
{
    struct stat sb;

    if (stat(dir, &sb) != 0)
        return cm_err_errno(err, errno, "look at the folder of store '%s'", path);
    if ((sb.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
        return cm_err_set(
            err, CM_E_CONFLICT,
            "store '%s': everybody may write into its folder, and so replace it: `chmod o-w '%s'`, "
            "or name another place",
            path, dir);
    return CM_OK;
}

static cm_status check_owner(const char *path, const struct stat *sb, struct cm_err *err)
{
    if (!S_ISREG(sb->st_mode))
        return cm_err_set(err, CM_E_CONFLICT, "store: '%s' is not a regular file", path);
    /* Its owner could read what is written into it, whatever its mode. */
    if (sb->st_uid != geteuid())
        return cm_err_set(err, CM_E_CONFLICT, "store: '%s' belongs to another user (%ld): name another place",
                          path, (long)sb->st_uid);
    return CM_OK;
}

/**
 * What SQLite opens beside it: somebody who may write into the folder could have put it there. SQLite follows no link there and makes no
 * file with more rights than the store's own; that it is not another's is all that is left to look at.
 */
static cm_status check_beside(const char *path, struct cm_err *err)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};

    for (size_t i = 0; i < CM_ARRAY_LEN(suffixes); i++) {
        cm_autofree char *name = cm_asprintf("%s%s", path, suffixes[i]);
        struct stat sb;

        if (lstat(name, &sb) != 0)
            continue;
        cm_status st = check_owner(name, &sb, err);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

/** Made by us before SQLite sees it, so that it is never readable by others; -wal and -shm take its mode. */
static cm_status make_file(const char *path, struct cm_err *err)
{
    const char *slash = strrchr(path, '/');
    cm_autofree char *dir =
        slash ? cm_memdup_z(path, slash == path ? 1 : (size_t)(slash - path)) : cm_strdup(".");
    cm_autoclose int fd = -1;
    struct stat sb;
    cm_status st = slash && slash != path ? cm_make_dirs(dir, err) : CM_OK;

    if (st != CM_OK)
        return cm_err_prefix(err, "store '%s'", path);
    st = check_folder(path, dir, err);
    if (st != CM_OK)
        return st;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return cm_err_errno(err, errno, "open store '%s'", path);
    if (fstat(fd, &sb) != 0)
        return cm_err_errno(err, errno, "look at store '%s'", path);
    st = check_owner(path, &sb, err);
    if (st != CM_OK)
        return st;
    /* A file that was copied here may be readable by others. */
    if ((sb.st_mode & 077) != 0 && fchmod(fd, 0600) != 0)
        return cm_err_errno(err, errno, "make store '%s' private", path);
    return check_beside(path, err);
}

/** The switch to WAL takes a lock for which SQLite does not always wait: two first openings at once meet
 * here. */
static cm_status use_wal(cm_store *s, struct cm_err *err)
{
    int rc = SQLITE_OK;

    for (int waited = 0; waited < CM_STORE_BUSY_MS; waited += 10) {
        rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((rc & 0xff) != SQLITE_BUSY)
            break;
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return rc == SQLITE_OK ? CM_OK : cm_store__error(s, rc, "set up the log", err);
}

static cm_status check_origin(cm_store *s, int64_t version, struct cm_err *err)
{
    int64_t app = 0, tables = 0;
    cm_status st = query_int(s, "PRAGMA application_id", &app, err);

    if (st == CM_OK)
        st = query_int(s, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (st != CM_OK)
        return st;
    if (app != CM_STORE_APPLICATION_ID && (app != 0 || tables != 0))
        return cm_err_set(err, CM_E_CONFLICT,
                          "store '%s' is the database of another program: name another file", s->path);
    if (version > VERSION)
        return cm_err_set(err, CM_E_CONFLICT,
                          "store '%s' has schema version %lld, made by a newer codemode; this one knows "
                          "versions up to %lld: "
                          "use the newer program, or another store",
                          s->path, (long long)version, (long long)VERSION);
    return CM_OK;
}

static cm_status migrate(cm_store *s, struct cm_err *err)
{
    int64_t version = 0;
    cm_status st = query_int(s, "PRAGMA user_version", &version, err);

    if (st == CM_OK && s->path)
        st = check_origin(s, version, err);
    if (st != CM_OK || version == VERSION)
        return st;
    st = exec_sql(s, "BEGIN IMMEDIATE", "lock it for a new schema", err);
    if (st != CM_OK)
        return st;
    /* Again under the lock: another process may have been here in between. */
    st = query_int(s, "PRAGMA user_version", &version, err);
    for (int64_t v = version; st == CM_OK && v < VERSION; v++)
        st = exec_sql(s, cm_store_migrations[v], "bring the schema up to date", err);
    if (st == CM_OK && version < VERSION) {
        char sql[128];

        (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %lld",
                       CM_STORE_APPLICATION_ID, (long long)VERSION);
        st = exec_sql(s, sql, "note the schema version", err);
    }
    if (st == CM_OK)
        return exec_sql(s, "COMMIT", "bring the schema up to date", err);
    (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

static cm_status set_up(cm_store *s, struct cm_err *err)
{
    cm_status st = CM_OK;

    (void)sqlite3_extended_result_codes(s->db, 1);
    (void)sqlite3_busy_timeout(s->db, CM_STORE_BUSY_MS);
    (void)sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    (void)sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < CM_ARRAY_LEN(pragmas) && st == CM_OK; i++)
        st = exec_sql(s, pragmas[i], "configure it", err);
    if (st == CM_OK)
        st = migrate(s, err);
    /* After the check: the file of another program, or of a newer one, is not touched. */
    if (st == CM_OK && s->path)
        st = use_wal(s, err);
    if (st == CM_OK)
        st = cm_store_recover(s, NULL, err);
    if (st == CM_OK)
        cm_store__sweep(s);
    return st;
}

cm_status cm_store_open(const char *where, cm_store **out, struct cm_err *err)
{
    cm_auto(cm_store) s = cm_new(cm_store);
    const char *path = ":memory:";
    cm_status st;
    int rc;

    s->owner_fd = s->log_fd = -1;
    if (strncmp(where, "sqlite:", 7) == 0 && where[7]) {
        /* A name that SQLite would read as one of its own is given as a path. */
        s->path = cm_asprintf("%s%s", where[7] == ':' ? "./" : "", where + 7);
        path = s->path;
        st = make_file(path, err);
        if (st != CM_OK)
            return st;
    } else if (!cm_z_eq(where, "memory:")) {
        return cm_err_set(err, CM_E_INVALID, "store '%.200s': expected \"sqlite:PATH\" or \"memory:\"",
                          where);
    }
    rc =
        sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return cm_store__error(s, rc, "open it", err);
    st = set_up(s, err);
    if (st != CM_OK)
        return st;
    *out = cm_steal(&s);
    return CM_OK;
}

/**
 * SQLite's last close moves the log into the database and removes it, which waits for the disk twice, and
 * twice again when the next process makes a new log. A short log is as durable where it is.
 */
static void leave_short_log(cm_store *s)
{
    sqlite3_file *log = NULL;
    sqlite3_int64 bytes = 0;

    if (!s->path || sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK)
        return;
    if (log && log->pMethods && log->pMethods->xFileSize(log, &bytes) == SQLITE_OK && bytes <= LOG_KEPT)
        (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void cm_store_close(cm_store *s)
{
    if (!s)
        return;
    if (s->db) {
        (void)cm_store_commit(s, false, NULL);
        leave_short_log(s);
    }
    for (size_t i = 0; i < CM_SQL_COUNT_; i++)
        (void)sqlite3_finalize(s->stmts[i]);
    (void)sqlite3_close(s->db);
    cm_fd_close(s->log_fd);
    cm_store__disown(s);
    free(s->path);
    free(s->file);
    free(s);
}

cm_status cm_store_changes(cm_store *s, int64_t *out, struct cm_err *err)
{
    return query_int(s, "PRAGMA data_version", out, err);
}

cm_status cm_store_info(cm_store *s, struct cm_buf *out, struct cm_err *err)
{
    int64_t n = 0, version = 0;
    cm_status st = query_int(s, "SELECT count(*) FROM executions", &n, err);

    if (st == CM_OK)
        st = query_int(s, "PRAGMA user_version", &version, err);
    if (st != CM_OK)
        return st;
    cm_buf_add_z(out, "{\"path\":");
    cm_json_write_string(out, cm_str_of(s->path ? s->path : "memory:"));
    cm_buf_addf(out, ",\"schema\":%lld,\"journal\":\"%s\",\"executions\":%lld}", (long long)version,
                s->path ? "wal" : "memory", (long long)n);
    return CM_OK;
}
