/** The worker's steps: descriptors, capabilities, limits, filter. Table and order: lockdown.c. */
#include "worker/lockdown.h"

#include "worker/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOCKET_FD 0
#define CPU_BACKSTOP_S \
    3600 /* of a whole worker's life; the host sets a soft limit of seconds for each pass */

static int keep_stderr(void)
{
    return CM_SANITIZED; /* a sanitizer's report goes to the zygote's standard error, which the host keeps */
}

bool cm_lock__only_socket(struct cm_lock *l)
{
    unsigned first = SOCKET_FD + 1;

    if (dup2(l->worker_fd, SOCKET_FD) < 0)
        return false;
    if (keep_stderr()) {
        if (syscall(SYS_close_range, first, STDERR_FILENO - 1, 0) != 0)
            return false;
        first = STDERR_FILENO + 1;
    }
    if (syscall(SYS_close_range, first, ~0U, 0) != 0)
        return false;
    l->worker_fd = SOCKET_FD;
    return true;
}

bool cm_lock__drop_all_caps(struct cm_lock *l)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    (void)l;
    return syscall(SYS_capset, &head, none) == 0 && geteuid() != 0;
}

bool cm_lock__no_new_privs(struct cm_lock *l)
{
    (void)l;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool cm_lock__die_with_zygote(struct cm_lock *l)
{
    (void)l;
    /*
     * A zygote that died before this line leaves a worker without the signal; but then the host never got its
     * socket or sees the zygote's end and kills it, and a worker whose socket is closed ends by itself: it
     * has not been given a program yet.
     */
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

/** The first process of a pid namespace ignores signals it has no handler for, so the back-stop needs one. */
static void on_cpu_backstop(int sig)
{
    (void)sig;
    _exit(CM_EXIT_CPU);
}

struct limit_row {
    int resource;
    rlim_t soft, hard;
};

static const struct limit_row limits[] = {
    {RLIMIT_NOFILE, SOCKET_FD + 1,
     SOCKET_FD + 1},         /* descriptor 0 is taken, so no number is free for a new one */
    {RLIMIT_NPROC, 0, 0},    /* no process and no thread */
    {RLIMIT_CORE, 0, 0},     /* a core file would hold the program's data */
    {RLIMIT_FSIZE, 0, 0},    /* nothing can be written to a file */
    {RLIMIT_MEMLOCK, 0, 0},  /* nothing is pinned in memory */
    {RLIMIT_MSGQUEUE, 0, 0}, /* no kernel memory for queues */
    {RLIMIT_CPU, CPU_BACKSTOP_S, CPU_BACKSTOP_S + 1},
};

bool cm_lock__rlimits(struct cm_lock *l)
{
    struct sigaction on_cpu = {.sa_handler = on_cpu_backstop};

    (void)l;
    if (sigaction(SIGXCPU, &on_cpu, NULL) != 0 || !cm_memory_watch())
        return false;
    for (size_t i = 0; i < CM_ARRAY_LEN(limits); i++) {
        struct rlimit now, want = {limits[i].soft, limits[i].hard};

        if (CM_SANITIZED && limits[i].resource == RLIMIT_NOFILE)
            want.rlim_cur = want.rlim_max = STDERR_FILENO + 1;
        /* A limit that is already lower stays: raising it would be refused. */
        if (getrlimit((__rlimit_resource_t)limits[i].resource, &now) == 0 && now.rlim_max < want.rlim_max)
            want.rlim_max = now.rlim_max;
        if (want.rlim_cur > want.rlim_max)
            want.rlim_cur = want.rlim_max;
        if (setrlimit((__rlimit_resource_t)limits[i].resource, &want) != 0)
            return false;
    }
    return true;
}

bool cm_lock__memory(struct cm_lock *l)
{
    rlim_t start = (rlim_t)l->vmdata_kb << 10;
    struct rlimit data = {start + ((rlim_t)CM_WORKER_MEMORY_MB << 20),
                          start + ((rlim_t)CM_WORKER_MEMORY_MAX_MB << 20)};

    if (CM_SANITIZED || l->vmdata_kb == 0)
        return false;
    return setrlimit(RLIMIT_DATA, &data) == 0;
}

bool cm_lock__seccomp(struct cm_lock *l)
{
    if (CM_SANITIZED || !l->filter.filter) {
        errno = ENOSYS;
        return false;
    }
    /* On all threads of the process, in case the engine has any. */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &l->filter) == 0;
}
