/** Descriptors: O_CLOEXEC from birth, -1 when empty. */
#ifndef CM_BASE_FD_H
#define CM_BASE_FD_H

#include "base/err.h"

#include <sys/types.h>

void cm_fd_close(int fd);
void cm_autoclose_(int *fd);
/** Closed when it leaves scope, if >= 0. */
#define cm_autoclose __attribute__((cleanup(cm_autoclose_)))
int cm_steal_fd(int *fd);

/** Read to the end. CM_E_LIMIT past max_bytes. *text is NUL-terminated and owned by the caller. Blocks. */
cm_status cm_read_fd(int fd, size_t max_bytes, char **text, size_t *len, struct cm_err *err);
/** As cm_read_fd on a file; the message names the path. A directory is CM_E_INVALID. */
cm_status cm_read_file(const char *path, size_t max_bytes, char **text, size_t *len, struct cm_err *err);
/** Write all of it, retrying on EINTR. Blocks. */
cm_status cm_write_fd(int fd, const void *p, size_t len, struct cm_err *err);
/** Make a directory and its parents with mode 0700 where they are missing. */
cm_status cm_make_dirs(const char *path, struct cm_err *err);
/** write(2) on a pipe or socket that never raises SIGPIPE in this thread, whatever the embedder's signal
 * set-up: EPIPE instead. */
ssize_t cm_write_nosigpipe(int fd, const void *p, size_t len);

#endif
