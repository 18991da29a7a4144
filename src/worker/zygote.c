/**
 * The zygote: one thread, two descriptors. FORK makes a worker, SIGCHLD reaps one, the control socket's end
 * ends everything.
 *
 * Happy path: HELLO; FORK → clone → FORKED with the worker's socket and pidfd; …; the worker ends → EXITED.
 * The first worker is made before the engine is warmed, so that a single run does not wait for it, and the
 * warming is paid by the second FORK, so that a single run does not pay for it. For the same reason the first
 * one runs no self-test: its first program is one. When the host goes away the loop returns, and the kernel
 * kills every worker with its parent.
 */
#include "worker/zygote.h"

#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * Like fork, with a pidfd and, where allowed, a pid namespace whose first process the child is. A raw system
 * call, since libc's fork takes no flags: there is one thread, so no lock is held and the handlers that fork
 * would run have nothing to do. A namespace for each worker and never one for all: when the first process of
 * one ends, every later fork into it fails. With it comes an ipc namespace of its own, so that workers of
 * different runtimes have no memory and no queue in common either.
 */
static pid_t clone_process(const struct cm_zygote *z, bool pid_ns, int *pidfd)
{
    bool ipc_ns = (z->lock.layers >> CM_LAYER_IPC_NS & 1) != 0;
    unsigned long flags = SIGCHLD | CLONE_PIDFD;

    if (pid_ns)
        flags |= CLONE_NEWPID | (ipc_ns ? CLONE_NEWIPC : 0);
    return (pid_t)syscall(SYS_clone, flags, NULL, pidfd, NULL, NULL);
}

static void restore_signals(void)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/** A worker from its first instruction to its end. */
__attribute__((noreturn)) static void be_worker(struct cm_zygote *z, int fd)
{
    restore_signals();
    z->lock.worker_fd = fd;
    if (z->vm_per_worker) {
        if (cm_engine_new(&z->opts.engine, &z->engine, NULL) != CM_OK)
            _exit(CM_EXIT_SELF_TEST);
        cm_lockdown_root(&z->lock);
    }
    if (!cm_lockdown_worker(&z->lock))
        _exit(CM_EXIT_LOCKDOWN + (int)z->lock.failed);
    /* The first worker is waited for by a program, which would take thrice as long with another one before it. */
    if (z->made && z->vm_per_worker && cm_engine_self_test(z->engine, NULL) != CM_OK)
        _exit(CM_EXIT_SELF_TEST);
    if (z->unfit)
        _exit(CM_EXIT_SELF_TEST);
    if (z->warm)
        cm_engine_touch(z->engine);
    cm_engine_prepare_realm(z->engine);
    cm_worker_serve(&z->opts, z->engine, z->lock.worker_fd);
    /* Not exit: no handler of the engine or libc has any business left, and some would make calls that the
     * filter kills. */
    _exit(0);
}

/**
 * Whether the warmed engine runs under lock-down. One process tries it for all workers, which are its equals; in each of
 * them the trial's program would leave 2 MB that no program after it needs. Where no process can be made, making a worker
 * will say why.
 */
static bool passes_self_test(const struct cm_zygote *z)
{
    int pidfd_raw = -1;
    int status = 0;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return true;
    cm_autoclose int ours = pair[0];
    cm_autoclose int theirs = pair[1];
    (void)ours; /* nobody listens; it is open so that the other end is a socket like a worker's */
    pid_t pid = clone_process(z, z->pid_ns, &pidfd_raw);
    if (pid == 0) {
        struct cm_lock lock = z->lock;

        restore_signals();
        lock.worker_fd = theirs;
        if (!cm_lockdown_worker(&lock))
            _exit(CM_EXIT_LOCKDOWN + (int)lock.failed);
        _exit(cm_engine_self_test(z->engine, NULL) == CM_OK ? 0 : CM_EXIT_SELF_TEST);
    }
    if (pid < 0)
        return true;
    cm_fd_close(pidfd_raw);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/** A trial: the worker's steps without an engine, and a report instead of frames. */
__attribute__((noreturn)) static void be_trial(struct cm_zygote *z, int fd)
{
    struct cm_trial t = {0};

    restore_signals();
    z->lock.worker_fd = fd;
    cm_lockdown_root(&z->lock);
    t.ok = cm_lockdown_worker(&z->lock);
    t.layers = z->lock.layers;
    t.failed = z->lock.failed;
    t.eno = z->lock.eno;
    (void)!send(z->lock.worker_fd, &t, sizeof(t), MSG_NOSIGNAL);
    _exit(0);
}

/** Start one. False with errno: no process could be made that way at all. */
static bool start_trial(struct cm_zygote *z, bool pid_ns)
{
    int pidfd = -1;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    cm_autoclose int ours = pair[0];
    cm_autoclose int theirs = pair[1];
    pid_t pid = clone_process(z, pid_ns, &pidfd);
    if (pid == 0)
        be_trial(z, theirs);
    if (pid < 0)
        return false;
    cm_fd_close(pidfd);
    z->trial_pid = pid;
    z->trial_fd = cm_steal_fd(&ours);
    return true;
}

void cm_zygote_start_trial(struct cm_zygote *z)
{
    z->trial_pid = -1;
    z->lock.vmdata_kb = cm_lockdown_vmdata_kb(&z->lock);
    z->pid_ns = start_trial(z, true);
    if (!z->pid_ns && !start_trial(z, false))
        z->refused_eno = errno;
}

/** What the trial said; where it died without a word, the filter's own loading or the report was refused. */
static struct cm_trial end_trial(struct cm_zygote *z)
{
    struct cm_trial t = {.failed = CM_LAYER_PID_NS, .eno = z->refused_eno};

    if (z->trial_pid < 0)
        return t;
    if (read(z->trial_fd, &t, sizeof(t)) != (ssize_t)sizeof(t))
        t = (struct cm_trial){.failed = CM_LAYER_SECCOMP, .eno = ENOSYS};
    cm_fd_close(z->trial_fd);
    while (waitpid(z->trial_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return t;
}

void cm_zygote_end_trial(struct cm_zygote *z)
{
    struct cm_trial t = end_trial(z);
    uint64_t own = z->vm_per_worker ? t.layers : z->lock.layers | cm_lockdown_worker_layers();

    z->refused = !t.ok;
    z->refused_layer = t.failed;
    z->refused_eno = t.eno;
    /* The trial took the root's steps by itself, and a worker has them from the zygote: both must have held. */
    if (t.ok)
        z->lock.layers = (t.layers & own) | (z->pid_ns ? UINT64_C(1) << CM_LAYER_PID_NS : 0);
    /* Data cannot be counted where the VM comes after the clone; the host's samples are the limit then. */
    if (z->vm_per_worker || z->uncapped)
        z->lock.layers &= ~(UINT64_C(1) << CM_LAYER_MEMORY);
}

/** Send one message with up to two descriptors. False: the host is gone. */
static bool send_message(const struct cm_zygote *z, const struct cm_control_msg *m, const int *fds,
                         size_t n_fds)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)m, sizeof(*m)};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};

    if (n_fds > 0) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    do {
        n = sendmsg(z->control_fd, &msg, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*m);
}

static bool send_failed(const struct cm_zygote *z, uint64_t serial, enum cm_layer layer, int eno)
{
    struct cm_control_msg m = {.type = CM_CONTROL_FAILED, .serial = serial, .layer = layer, .eno = eno};

    return send_message(z, &m, NULL, 0);
}

/** Children that live, to give EXITED its serial. A worker is a slot; slots are few and reused. */
#define CHILDREN_MAX 4096
struct child {
    pid_t pid;
    uint64_t serial;
};
static struct child children[CHILDREN_MAX];
static size_t n_children;

static bool make_worker(struct cm_zygote *z, uint64_t serial)
{
    int pair[2];
    int pidfd_raw = -1;

    if (z->refused)
        return send_failed(z, serial, z->refused_layer, z->refused_eno);
    if (n_children == CHILDREN_MAX)
        return send_failed(z, serial, CM_LAYER_RLIMITS, EAGAIN);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return send_failed(z, serial, CM_LAYER_RLIMITS, errno);
    cm_autoclose int host = pair[0];
    cm_autoclose int worker = pair[1];
    z->lock.vmdata_kb = z->vm_per_worker ? 0 : cm_lockdown_vmdata_kb(&z->lock);
    pid_t pid = clone_process(z, z->pid_ns, &pidfd_raw);
    if (pid == 0)
        be_worker(z, worker);
    if (pid < 0)
        return send_failed(z, serial, CM_LAYER_PID_NS, errno);
    cm_autoclose int pidfd = pidfd_raw;
    children[n_children++] = (struct child){pid, serial};
    struct cm_control_msg m = {
        .type = CM_CONTROL_FORKED, .serial = serial, .pid = pid, .vmdata_kb = z->lock.vmdata_kb};
    return send_message(z, &m, (const int[]){host, pidfd}, 2);
}

static void set_soft_limit(pid_t pid, __rlimit_resource_t resource, rlim_t soft)
{
    struct rlimit l;

    if (soft == 0 || prlimit(pid, resource, NULL, &l) != 0)
        return;
    l.rlim_cur = soft < l.rlim_max ? soft : l.rlim_max;
    (void)prlimit(pid, resource, &l, NULL);
}

/** A child that is not reaped keeps its number, so these limits can meet no stranger. */
static void limit_worker(const struct cm_control_msg *m)
{
    for (size_t i = 0; i < n_children; i++) {
        if (children[i].serial != m->serial)
            continue;
        set_soft_limit(children[i].pid, RLIMIT_DATA, (rlim_t)m->vmdata_kb << 10);
        set_soft_limit(children[i].pid, RLIMIT_CPU, (rlim_t)m->cpu_us / 1000000);
        return;
    }
}

static uint64_t take_serial(pid_t pid)
{
    for (size_t i = 0; i < n_children; i++) {
        if (children[i].pid == pid) {
            uint64_t serial = children[i].serial;
            children[i] = children[--n_children];
            return serial;
        }
    }
    return 0;
}

/** Reap whatever has ended. False: the host is gone. */
static bool reap_workers(const struct cm_zygote *z)
{
    struct signalfd_siginfo sink;

    while (read(z->signal_fd, &sink, sizeof(sink)) == (ssize_t)sizeof(sink))
        ;
    for (;;) {
        siginfo_t info = {0};
        struct rusage use = {0};

        /* The system call gives the usage of exactly this child; the libc function leaves it out. */
        if (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &use) != 0 || info.si_pid == 0)
            return true;
        struct cm_control_msg m = {
            .type = CM_CONTROL_EXITED,
            .serial = take_serial(info.si_pid),
            .pid = info.si_pid,
            .exit_code = info.si_code,
            .exit_status = info.si_status,
            .cpu_us = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec),
            .max_rss_kb = (uint64_t)use.ru_maxrss,
        };
        if (!send_message(z, &m, NULL, 0))
            return false;
    }
}

/** Read one message of the host and do it. False: the host is gone or talks nonsense. */
static bool serve_host(struct cm_zygote *z)
{
    bool ok;

    struct cm_control_msg m;
    ssize_t n = recv(z->control_fd, &m, sizeof(m), MSG_DONTWAIT);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n != (ssize_t)sizeof(m) || (m.type != CM_CONTROL_FORK && m.type != CM_CONTROL_LIMIT))
        return false;
    if (m.type == CM_CONTROL_LIMIT) {
        limit_worker(&m);
        return true;
    }
    if (z->made && !z->warm && z->engine && !z->opts.engine.one_shot) {
        z->warm = true;
        /* A failure to warm costs speed, not correctness: the self-test decides whether workers are fit. */
        (void)cm_engine_warm(z->engine, NULL);
        z->unfit = !z->refused && !passes_self_test(z);
    }
    ok = make_worker(z, m.serial);
    z->made = true;
    return ok;
}

void cm_zygote_run(struct cm_zygote *z)
{
    struct cm_control_msg hello = {.type = CM_CONTROL_HELLO,
                                   .version = CM_CONTROL_VERSION,
                                   .layers = z->lock.layers,
                                   .vmdata_kb = z->lock.vmdata_kb};
    struct pollfd fds[] = {{.fd = z->control_fd, .events = POLLIN}, {.fd = z->signal_fd, .events = POLLIN}};
    bool ok = send_message(z, &hello, NULL, 0);

    while (ok) {
        if (poll(fds, CM_ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents)
            ok = reap_workers(z);
        if (ok && fds[0].revents)
            ok = serve_host(z);
    }
}
