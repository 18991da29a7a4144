#include "base/fd.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READ_CHUNK_BYTES 65536

void cm_fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = saved;
}

void cm_autoclose_(int *fd)
{
    cm_fd_close(*fd);
}

int cm_steal_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

cm_status cm_read_fd(int fd, size_t max_bytes, char **text, size_t *len, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(max_bytes + READ_CHUNK_BYTES);

    for (;;) {
        char *at = cm_buf_reserve(&b, READ_CHUNK_BYTES);
        if (!at)
            return cm_err_set(err, CM_E_LIMIT, "more than the limit of %zu bytes", max_bytes);
        ssize_t n = read(fd, at, READ_CHUNK_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cm_err_errno(err, errno, "read");
        b.len += (size_t)n;
        b.ptr[b.len] = '\0';
        if (b.len > max_bytes)
            return cm_err_set(err, CM_E_LIMIT, "more than the limit of %zu bytes", max_bytes);
        if (n == 0)
            break;
    }
    *text = cm_buf_take(&b, len);
    return CM_OK;
}

cm_status cm_read_file(const char *path, size_t max_bytes, char **text, size_t *len, struct cm_err *err)
{
    cm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return cm_err_errno(err, errno, "cannot open '%s'", path);
    cm_status st = cm_read_fd(fd, max_bytes, text, len, err);
    return st == CM_OK ? CM_OK : cm_err_prefix(err, "'%s'", path);
}

cm_status cm_write_fd(int fd, const void *p, size_t len, struct cm_err *err)
{
    const char *at = p;

    while (len > 0) {
        ssize_t n = cm_write_nosigpipe(fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cm_err_errno(err, errno, "write");
        at += n;
        len -= (size_t)n;
    }
    return CM_OK;
}

cm_status cm_make_dirs(const char *path, struct cm_err *err)
{
    cm_autofree char *copy = cm_strdup(path);

    for (char *p = copy + 1; p[-1] != '\0'; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char old = *p;
        *p = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return cm_err_errno(err, errno, "cannot make directory '%s'", copy);
        *p = old;
        if (old == '\0')
            break;
    }
    return CM_OK;
}

ssize_t cm_write_nosigpipe(int fd, const void *p, size_t len)
{
    sigset_t pipe_set, old, pending;

    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    (void)sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
    ssize_t n = write(fd, p, len);
    int saved = errno;
    if (n < 0 && saved == EPIPE && !was_pending) {
        /* Ours is pending on this thread now: take it before the old mask is back. */
        while (sigtimedwait(&pipe_set, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR)
            ;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return n;
}
