/** Sockets of the file system, whatever the length of the path to them. */
#include "api/control.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

/**
 * An address has room for 107 bytes, a path for more. The folder is opened and named by its descriptor, which also means that what is
 * bound or reached is in the folder that was there when it was opened. *dir is to be closed after the call.
 */
static bool address_of(const char *path, struct sockaddr_un *a, int *dir)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    cm_autofree char *folder = slash ? cm_memdup_z(path, (size_t)(slash - path) + 1) : cm_strdup(".");
    int n;

    *dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*dir < 0)
        return false;
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    n = snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/%s", *dir, name);
    return n > 0 && (size_t)n < sizeof a->sun_path;
}

int cm_api__socket_listen(const char *path)
{
    struct sockaddr_un a;
    cm_autoclose int dir = -1;
    cm_autoclose int fd = -1;

    if (!address_of(path, &a, &dir))
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* The mode of the socket becomes that of its name; umask is the process's, and not ours to change. */
    if (fd < 0 || fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)&a, sizeof a) != 0)
        return -1;
    if (listen(fd, BACKLOG) == 0)
        return cm_steal_fd(&fd);
    (void)unlink(path);
    return -1;
}

int cm_api__socket_connect(const char *path)
{
    struct sockaddr_un a;
    cm_autoclose int dir = -1;
    cm_autoclose int fd = -1;

    if (!address_of(path, &a, &dir))
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof a) != 0)
        return -1; /* refused, or so many wait that one more would have to */
    return cm_steal_fd(&fd);
}

bool cm_api__socket_is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}
