/*
 * Whose a running execution is.
 *
 * A process that runs executions holds an flock on a file beside the store, "<store>.<16 hex digits>.owner",
 * named in the owner column. The kernel drops the lock with the process, however it ends, so a running
 * execution whose owner's file can be locked by somebody else (or is gone) is orphaned: it is paused, for whoever goes on with it. No process id is trusted for this; ids are reused. Names are random and never used twice, so
 * removing a dead owner's file cannot hit a living one; what the dead have left is removed at the next opening.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/random.h"
#include "store/internal.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNERS_MAX 256 /* dead owners, or what they left, handled at once; the rest at the next look */

static char *lock_path(const cm_store *s, const char *owner)
{
    return cm_asprintf("%s.%s.owner", s->path, owner);
}

/** Where that process listens, if it does: beside its lock. */
static char *socket_path(const cm_store *s, const char *owner)
{
    return cm_asprintf("%s.%s.sock", s->path, owner);
}

/**
 * Make a lock of this name and hold it. *taken false: somebody swept the file away before it was locked (cm_store__sweep), and what is
 * held says nothing; another name is to be tried.
 */
static cm_status take_lock(const cm_store *s, const char *name, int *out, bool *taken, struct cm_err *err)
{
    cm_autofree char *path = lock_path(s, name);
    cm_autoclose int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat sb;

    *taken = false;
    if (fd < 0 && errno == EEXIST)
        return CM_OK;
    if (fd < 0)
        return cm_err_errno(err, errno, "create '%s'", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return CM_OK;
        cm_status st = cm_err_errno(err, errno, "lock '%s'", path);

        (void)unlink(path);
        return st;
    }
    if (fstat(fd, &sb) != 0)
        return cm_err_errno(err, errno, "look at '%s'", path);
    *taken = sb.st_nlink > 0;
    *out = cm_steal_fd(&fd);
    return CM_OK;
}

cm_status cm_store__own(cm_store *s, struct cm_err *err)
{
    if (s->owner || !s->path)
        return CM_OK;
    for (unsigned tries = 0; tries < 16; tries++) {
        uint8_t raw[8];
        char name[17];
        cm_autoclose int fd = -1;
        bool taken = false;

        cm_random_bytes(raw, sizeof raw);
        for (size_t i = 0; i < sizeof raw; i++)
            (void)snprintf(name + 2 * i, 3, "%02x", raw[i]);
        cm_status st = take_lock(s, name, &fd, &taken, err);
        if (st != CM_OK)
            return st;
        if (taken) {
            s->owner = cm_strdup(name);
            s->owner_fd = cm_steal_fd(&fd);
            return CM_OK;
        }
    }
    return cm_err_set(err, CM_E_UNAVAILABLE, "store '%s': something removes its lock files as they are made",
                      s->path);
}

void cm_store__disown(cm_store *s)
{
    cm_autofree char *path = NULL;

    if (!s->owner)
        return;
    path = lock_path(s, s->owner);
    (void)unlink(path);
    cm_fd_close(s->owner_fd);
    s->owner_fd = -1;
    free(cm_steal(&s->owner));
}

/** Whether the name can be one of ours; anything else in the column is a damaged row, whose owner cannot be
 * alive. */
static bool is_name(const char *owner)
{
    return strlen(owner) == 16 && strspn(owner, "0123456789abcdef") == 16;
}

/** What cannot be told counts as alive. */
bool cm_store__is_dead(const cm_store *s, const char *owner)
{
    cm_autofree char *path = lock_path(s, owner);
    cm_autoclose int fd = -1;

    if (!is_name(owner))
        return true;
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    (void)unlink(path);
    cm_autofree char *socket = socket_path(s, owner);
    (void)unlink(socket);
    return true;
}

/*
 * A process that was killed while nothing ran has left its files, and no row names them. Who sweeps holds the lock while it removes the
 * file, and who makes one looks whether it is still there once it has the lock: of the two, one notices.
 */
void cm_store__sweep(const cm_store *s)
{
    static const char suffix[] = ".owner";
    const char *slash = s->path ? strrchr(s->path, '/') : NULL;
    const char *base = slash ? slash + 1 : s->path;
    size_t base_len = s->path ? strlen(base) : 0;
    cm_autofree char *dir = slash ? cm_memdup_z(s->path, (size_t)(slash - s->path) + 1) : cm_strdup(".");
    DIR *d = s->path ? opendir(dir) : NULL;
    const struct dirent *entry;

    while (d && (entry = readdir(d))) {
        const char *name = entry->d_name;
        size_t len = strlen(name);

        if (len != base_len + 1 + 16 + sizeof suffix - 1 || memcmp(name, base, base_len) != 0 ||
            name[base_len] != '.' || !cm_z_eq(name + len - (sizeof suffix - 1), suffix))
            continue;
        cm_autofree char *owner = cm_memdup_z(name + base_len + 1, 16);
        if (!s->owner || !cm_z_eq(owner, s->owner))
            (void)cm_store__is_dead(s, owner); /* removes them if so */
    }
    if (d)
        (void)closedir(d);
}

char *cm_store_own_socket(const cm_store *s)
{
    return s->owner ? socket_path(s, s->owner) : NULL;
}

cm_status cm_store_owner_socket(cm_store *s, const char *id, char **out, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    cm_autofree char *owner = NULL;
    cm_status st = cm_store__bind(s, CM_SQL_EXEC_OWNER, (const struct cm_sql_arg[]){CM_A_Z(id)}, 1, &q, err);

    if (st != CM_OK)
        return st;
    if (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 1))
        owner = cm_strdup((const char *)sqlite3_column_text(q, 1));
    cm_store__reset(q);
    *out = NULL;
    /* Of this process is nobody else; and what is no name of ours leads to no path. */
    if (owner && s->path && !(s->owner && cm_z_eq(owner, s->owner)) && !cm_store__is_dead(s, owner))
        *out = socket_path(s, owner);
    return CM_OK;
}

static cm_status list_owners(cm_store *s, char **names, size_t *n, struct cm_err *err)
{
    sqlite3_stmt *q = NULL;
    cm_status st = cm_store__bind(s, CM_SQL_OWNERS, NULL, 0, &q, err);
    int rc = SQLITE_DONE;

    if (st != CM_OK)
        return st;
    while (*n < OWNERS_MAX && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);

        if (name)
            names[(*n)++] = cm_strdup(name);
    }
    cm_store__reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? CM_OK : cm_store__error(s, rc, "list the owners", err);
}

/**
 * Its run can go on from the record (runtime). What it had sent and got no answer for has happened or not: where doing it twice does no
 * harm (CM_METHOD_READ_ONLY, CM_METHOD_IDEMPOTENT: flags 2 and 4 of a connector's method, kind 0), that is of no matter; the rest is for
 * a human to say.
 */
static cm_status orphan(cm_store *s, const char *owner, size_t *n, struct cm_err *err)
{
    static const char rule[] = "interrupted: it may have taken effect already";
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_ORPHAN_CALLS, NULL, err, CM_A_Z(owner), CM_A_Z(rule));

    if (st == CM_OK)
        st = CM_STORE_WRITE(s, CM_SQL_ORPHAN_EXECS, &changed, err, CM_A_Z(owner), CM_A_INT(cm_now_ms()));
    if (st == CM_OK)
        *n += changed;
    return st;
}

cm_status cm_store_recover(cm_store *s, size_t *n, struct cm_err *err)
{
    char *names[OWNERS_MAX];
    size_t n_names = 0, found = 0;
    bool looked = false; /* for what a dead one had: a group is open */
    cm_status st = CM_OK;

    if (s->path)
        st = list_owners(s, names, &n_names, err);
    for (size_t i = 0; i < n_names; i++) {
        if (st == CM_OK && (!s->owner || !cm_z_eq(names[i], s->owner)) && cm_store__is_dead(s, names[i])) {
            looked = true;
            st = orphan(s, names[i], &found, err);
        }
        free(names[i]);
    }
    if (st == CM_OK && found > 0)
        st = cm_store__settle(s, st, err);
    else if (looked) /* somebody else was here first */
        (void)cm_store_commit(s, false, NULL);
    if (st == CM_OK && n)
        *n = found;
    return st;
}

cm_status cm_store_interrupted(cm_store *s, const char *runtime, uint32_t from, uint32_t to,
                               struct cm_interrupted_row **rows, size_t *n, struct cm_err *err)
{
    const struct cm_sql_arg args[] = {CM_A_Z(runtime), CM_A_INT(from), CM_A_INT(to)};
    sqlite3_stmt *q = NULL;
    struct cm_interrupted_row *list = cm_calloc(OWNERS_MAX, sizeof *list);
    size_t n_list = 0;
    int rc = SQLITE_DONE;
    cm_status st = cm_store__bind(s, CM_SQL_INTERRUPTED, args, CM_ARRAY_LEN(args), &q, err);

    while (st == CM_OK && n_list < OWNERS_MAX && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *id = (const char *)sqlite3_column_text(q, 0);

        if (id)
            list[n_list++] = (struct cm_interrupted_row){cm_strdup(id), (uint32_t)sqlite3_column_int(q, 1)};
    }
    if (st == CM_OK)
        cm_store__reset(q);
    if (st == CM_OK && rc != SQLITE_ROW && rc != SQLITE_DONE)
        st = cm_store__error(s, rc, "list what was interrupted", err);
    if (st == CM_OK) {
        *rows = list;
        *n = n_list;
        return CM_OK;
    }
    for (size_t i = 0; i < n_list; i++)
        free(list[i].id);
    free(list);
    return st;
}
