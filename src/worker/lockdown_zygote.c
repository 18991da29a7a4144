/** The zygote's steps: user, namespaces, root, capabilities, Landlock. Table and order: lockdown.c. */
#include "worker/lockdown.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A user id for this zygote alone: the first ones above all ranges that systemd, distributions and containers
 * hand out, plus the process id, so that two zygotes share neither limits nor signals. Where such ids are not
 * mapped (a container): nobody's.
 */
#define UID_BASE   UINT32_C(0x70000000)
#define UID_NOBODY 65534u

static bool set_caps(uint64_t caps)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {
        {.effective = (uint32_t)caps, .permitted = (uint32_t)caps},
        {.effective = (uint32_t)(caps >> 32), .permitted = (uint32_t)(caps >> 32)},
    };

    return syscall(SYS_capset, &head, data) == 0;
}

static uint64_t permitted_caps(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    if (syscall(SYS_capget, &head, data) != 0)
        return 0;
    return (uint64_t)data[0].permitted | (uint64_t)data[1].permitted << 32;
}

static bool become(uid_t id)
{
    return setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0;
}

bool cm_lock__leave_root(struct cm_lock *l)
{
    (void)l;
    if (geteuid() == 0) {
        /* Kept across the change of user, for the namespaces; the last steps drop them. */
        (void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
        if (setgroups(0, NULL) != 0 || (!become(UID_BASE + (uid_t)getpid()) && !become(UID_NOBODY)))
            return false;
        (void)set_caps(permitted_caps());
        /* The change of user closed /proc/self to ourselves; the maps of the user namespace are written
         * there. */
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }
    return getuid() != 0 && geteuid() != 0;
}

static bool write_proc(const char *path, const char *text)
{
    cm_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

bool cm_lock__user_ns(struct cm_lock *l)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();

    (void)l;
    if (unshare(CLONE_NEWUSER) != 0)
        return false;
    /* The same ids inside as outside. Without the maps every id reads as nobody, which loses nothing we need.
     */
    (void)write_proc("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
    (void)write_proc("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
    (void)write_proc("/proc/self/gid_map", map);
    /*
     * And no further one inside, which would give its maker every capability in it: much of the kernel can be reached by these alone.
     * Beside the filter this is all that refuses it, since making one takes no right. Where /proc/sys cannot be written (a container)
     * the filter stands alone.
     */
    (void)write_proc("/proc/sys/user/max_user_namespaces", "0");
    return true;
}

bool cm_lock__net_ns(struct cm_lock *l)
{
    (void)l;
    return unshare(CLONE_NEWNET) == 0;
}

bool cm_lock__ipc_ns(struct cm_lock *l)
{
    (void)l;
    return unshare(CLONE_NEWIPC) == 0;
}

bool cm_lock__uts_ns(struct cm_lock *l)
{
    (void)l;
    return unshare(CLONE_NEWUTS) == 0;
}

bool cm_lock__mount_ns(struct cm_lock *l)
{
    (void)l;
    return unshare(CLONE_NEWNS) == 0;
}

/** An empty read-only tmpfs becomes the root and the old one is unmounted. Needs a mount namespace whose root
 * is a mount. */
static bool pivot_to_tmpfs(void)
{
    static const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    static const char options[] = "mode=0555,size=4k,nr_inodes=2";

    /* Private first: otherwise the mount below would show up in the namespace we come from. */
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    const char *at = mount("tmpfs", "/tmp", "tmpfs", flags, options) == 0    ? "/tmp"
                     : mount("tmpfs", "/proc", "tmpfs", flags, options) == 0 ? "/proc"
                                                                             : NULL;
    if (!at || chdir(at) != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
        return false;
    /* The old root now lies on top of the new one: the upper of two mounts at "." goes. */
    if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        return false;
    (void)mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL);
    return true;
}

/**
 * Where nothing can be mounted (a container, a chroot): the root becomes a directory of a process that is
 * gone, which stays empty for ever. The helper shares our root and working directory, moves both into its own
 * /proc directory, and ends.
 */
static bool chroot_into_nothing(void)
{
    long pid = syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0);
    int status = 0;

    if (pid < 0)
        return false;
    if (pid == 0)
        _exit(chroot("/proc/self/fdinfo/") == 0 && chdir("/") == 0 ? 0 : 1);
    while (waitpid((pid_t)pid, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool cm_lock__empty_root(struct cm_lock *l)
{
    if ((l->layers & (UINT64_C(1) << CM_LAYER_MOUNT_NS)) != 0 && pivot_to_tmpfs())
        return true;
    return chroot_into_nothing();
}

bool cm_lock__drop_most_caps(struct cm_lock *l)
{
    uint64_t have = permitted_caps();

    (void)l;
    /* Nothing that is executed gains capabilities by its user id, whatever it is. Needs CAP_SETPCAP, so it
     * comes first. */
    (void)prctl(PR_SET_SECUREBITS,
                SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
                0, 0, 0);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned long cap = 0; cap <= 63; cap++)
        (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    return set_caps(have & (UINT64_C(1) << CAP_SYS_ADMIN));
}

/** struct landlock_ruleset_attr as of ABI 6; an older kernel is given the front of it that it knows. */
struct landlock_attr {
    uint64_t fs, net, scoped;
};

struct landlock_abi {
    int abi;
    struct landlock_attr handled;
    size_t bytes;
};

/* What each ABI can deny (Documentation/userspace-api/landlock.rst, "Previous limitations"): all of it is
 * denied. */
static const struct landlock_abi landlock_abis[] = {
    {6, {0xffff, 3, 3}, 24}, {5, {0xffff, 3, 0}, 16}, {4, {0x7fff, 3, 0}, 16},
    {3, {0x7fff, 0, 0}, 8},  {2, {0x3fff, 0, 0}, 8},  {1, {0x1fff, 0, 0}, 8},
};

bool cm_lock__landlock(struct cm_lock *l)
{
    enum {
        SYS_create_ruleset = 444,
        SYS_restrict_self = 446,
        VERSION = 1
    }; /* the same numbers on every architecture */
    long abi = syscall(SYS_create_ruleset, NULL, 0, VERSION);

    (void)l;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    for (size_t i = 0; i < CM_ARRAY_LEN(landlock_abis); i++) {
        const struct landlock_abi *a = &landlock_abis[i];
        if (abi < a->abi)
            continue;
        cm_autoclose int fd = (int)syscall(SYS_create_ruleset, &a->handled, a->bytes, 0);
        return fd >= 0 && syscall(SYS_restrict_self, fd, 0) == 0;
    }
    return false;
}
