/**
 * The zygote from the host's side: start it with nothing, listen to it, start it again when it dies.
 *
 * It is started by posix_spawn with an empty environment, every descriptor closed but the control socket, and
 * signals as at birth; a session of its own keeps the terminal's signals from it. No signal handler is
 * involved: its death is read from a pidfd, and our death reaches it as the end of the control socket. A
 * zygote that ends before a worker of it was ready is tried again after a growing pause, five times, and one that
 * says nothing at all for ten seconds is killed and tried once more; then the passes that wait are told why, with
 * what it printed. Getting to HELLO is not enough to start the count anew: one that dies of every FORK would be
 * started for ever. One that has worked is started again at once, also when it stops to answer.
 */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILURES_MAX    5
#define RETRY_FIRST_MS  20
#define START_MS        10000 /* from start to HELLO, which takes 0.1 s; the machine may be busy */
#define FORK_STARTS     3     /* that time again and again, for a fork, of which one pays for warming up */
#define FIRST_FREE_FD   10    /* child's ends start here, clear of the numbers that they are moved to */
#define IGNORED_WARNING "disabling gigacage" /* the engine says so whenever it is told to */

static int high_fd(int take_fd)
{
    int fd = fcntl(take_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

    cm_fd_close(take_fd);
    return fd;
}

/** posix_spawn with all of the above. Returns an errno value. */
static int spawn(const cm_sandbox *sb, int control_fd, int error_fd, pid_t *pid)
{
    static char *const no_environment[] = {NULL};
    static char no_jit[] = "--no-jit";
    static char vm_per_worker[] = "--vm-per-worker";
    static char vm_per_pass[] = "--vm-per-pass";
    static char one_shot[] = "--one-shot";
    char stack[32];
    char *argv[7] = {sb->worker_path, stack, NULL};
    size_t n = 2;
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t all, none;

    (void)snprintf(stack, sizeof(stack), "--stack-kb=%u", sb->opts.stack_kb);
    if (sb->opts.no_jit)
        argv[n++] = no_jit;
    if (sb->zygote.vm_per_worker)
        argv[n++] = vm_per_worker;
    if (sb->vm_each)
        argv[n++] = vm_per_pass;
    if (sb->opts.one_shot)
        argv[n++] = one_shot;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&fa);
    (void)posix_spawnattr_init(&attr);
    int rc = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&fa, 0, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&fa, error_fd, 2);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&fa, control_fd, CM_CONTROL_FD);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&fa, CM_CONTROL_FD + 1);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attr, &all);
    rc = rc ? rc : posix_spawnattr_setsigmask(&attr, &none);
    rc = rc ? rc
            : posix_spawnattr_setflags(&attr,
                                       POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    rc = rc ? rc : posix_spawn(pid, sb->worker_path, &fa, &attr, argv, no_environment);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&fa);
    return rc;
}

static void on_error_text(void *user, struct cm_str bytes)
{
    struct cm_buf *b = &((cm_sandbox *)user)->zygote.error_text;

    /* The tail is what explains an end. */
    if (bytes.len > CM_STDERR_KEEP_BYTES)
        bytes = cm_str_mk(bytes.ptr + bytes.len - CM_STDERR_KEEP_BYTES, CM_STDERR_KEEP_BYTES);
    if (b->len + bytes.len > CM_STDERR_KEEP_BYTES)
        cm_buf_drop_front(b, b->len + bytes.len - CM_STDERR_KEEP_BYTES);
    cm_buf_add_str(b, bytes);
}

static void on_error_end(void *user, int eno)
{
    (void)user;
    (void)eno;
}

static const struct cm_stream_events error_events = {.on_data = on_error_text, .on_end = on_error_end};

/** Close what belongs to a zygote that is gone. */
static void drop_link(struct cm_zygote_link *z)
{
    if (z->retry)
        cm_timer_stop(z->retry);
    cm_watch_free(cm_steal(&z->control));
    cm_watch_free(cm_steal(&z->death));
    cm_stream_free(cm_steal(&z->errors));
    cm_fd_close(cm_steal_fd(&z->control_fd));
    cm_fd_close(cm_steal_fd(&z->pidfd));
    z->pid = 0;
    z->said_hello = false;
    z->made_worker = false;
}

/** What it printed last, without the line that means nothing; into buf. */
static const char *last_words(struct cm_zygote_link *z, char *buf, size_t size)
{
    struct cm_str rest = cm_buf_str(&z->error_text);
    size_t n = 0;

    buf[0] = '\0';
    while (rest.len > 0) {
        const char *nl = memchr(rest.ptr, '\n', rest.len);
        size_t len = nl ? (size_t)(nl - rest.ptr) : rest.len;
        bool noise = len == 0 || memmem(rest.ptr, len, IGNORED_WARNING, sizeof(IGNORED_WARNING) - 1);
        if (!noise && n + len + 3 < size)
            n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n ? " " : ": ", (int)len, rest.ptr);
        rest = cm_str_mk(rest.ptr + len + (nl ? 1 : 0), rest.len - len - (nl ? 1 : 0));
    }
    return buf;
}

static uint64_t start_ms(const cm_sandbox *sb)
{
    return sb->opts.start_ms ? sb->opts.start_ms : START_MS;
}

/** It hangs: what comes next, comes with its death. */
static void end_silence(struct cm_zygote_link *z)
{
    cm_buf_add_z(&z->error_text, "it did not report in time\n");
    if (z->n_failures < FAILURES_MAX - 2)
        z->n_failures = FAILURES_MAX - 2;
    (void)syscall(SYS_pidfd_send_signal, z->pidfd, SIGKILL, NULL, 0);
}

/** The one timer: a pause before a start, or the time that a start or a fork may take. */
static void retry(void *user)
{
    cm_sandbox *sb = user;

    if (sb->zygote.pid) {
        end_silence(&sb->zygote);
        return;
    }
    cm_control__start(sb);
    cm_sandbox__wake(sb);
}

/** A start that came to nothing. */
static void start_failed(cm_sandbox *sb, const char *why)
{
    struct cm_zygote_link *z = &sb->zygote;

    z->failed_ms = cm_mono_ms();
    if (++z->n_failures >= FAILURES_MAX)
        cm_sandbox__broken(sb, why);
    else
        cm_timer_start(z->retry, RETRY_FIRST_MS << z->n_failures);
}

static void zygote_died(cm_sandbox *sb)
{
    struct cm_zygote_link *z = &sb->zygote;
    siginfo_t info = {0};
    char words[1024];
    bool was_up = z->said_hello;
    bool has_worked = z->made_worker;

    /* Somebody else in this process may have reaped it; then nothing is known of how it ended. */
    (void)waitid(P_PIDFD, (id_t)z->pidfd, &info, WEXITED | WNOHANG);
    (void)last_words(z, words, sizeof(words));
    drop_link(z);
    for (struct cm_worker *w = sb->workers; w; w = w->next)
        cm_worker__exited(w, NULL);
    cm_sandbox__wake(sb);
    if (sb->closing)
        return;
    if (info.si_code == CLD_EXITED && info.si_status == CM_EXIT_THREADS && !z->vm_per_worker) {
        z->vm_per_worker = true;
        cm_timer_start(z->retry, 0);
        return;
    }
    if (has_worked) {
        z->n_failures = 0;
        cm_timer_start(z->retry, 0);
        return;
    }
    cm_autofree char *why = cm_asprintf(
        "'%s' ended %s (%s %d)%s", sb->worker_path, was_up ? "before a worker was ready" : "at its start",
        info.si_code == CLD_EXITED ? "exit status" : "signal", info.si_status, words);
    start_failed(sb, why);
}

static void on_death(void *user, unsigned events)
{
    (void)events;
    zygote_died(user);
}

static bool has_forks(const cm_sandbox *sb)
{
    for (const struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->state == CM_WORKER_FORKING)
            return true;
    }
    return false;
}

/** It has just answered: what it still owes an answer for is waited for anew. */
static void await_forks(cm_sandbox *sb)
{
    if (has_forks(sb))
        cm_timer_start(sb->zygote.retry, FORK_STARTS * start_ms(sb));
    else
        cm_timer_stop(sb->zygote.retry);
}

static void on_hello(cm_sandbox *sb, const struct cm_control_msg *m)
{
    struct cm_zygote_link *z = &sb->zygote;

    if (m->version != CM_CONTROL_VERSION) {
        cm_autofree char *why = cm_asprintf(
            "'%s' speaks version %u of the control protocol, this program %u: install both from one build",
            sb->worker_path, m->version, CM_CONTROL_VERSION);
        z->n_failures = FAILURES_MAX;
        cm_sandbox__broken(sb, why);
        return;
    }
    z->said_hello = true;
    z->layers = m->layers;
    await_forks(sb);
}

static void on_failed(cm_sandbox *sb, const struct cm_control_msg *m)
{
    struct cm_worker *w = cm_worker__find(sb, m->serial);
    struct cm_control_msg as_exit = {.exit_code = CLD_EXITED,
                                     .exit_status = CM_EXIT_LOCKDOWN + (int)m->layer};
    char text[256];

    if (!w)
        return;
    w->state = CM_WORKER_GONE;
    cm_autofree char *why =
        cm_asprintf("%s (%s)", cm_verdict__exit_text(&as_exit, text, sizeof(text)), strerror(m->eno));
    cm_sandbox__worker_failed(sb, why);
}

static void handle_message(cm_sandbox *sb, const struct cm_control_msg *m, int *fds)
{
    struct cm_worker *w = m->serial ? cm_worker__find(sb, m->serial) : NULL;

    switch ((enum cm_control_type)m->type) {
    case CM_CONTROL_HELLO:
        on_hello(sb, m);
        return;
    case CM_CONTROL_FORKED:
        if (w && w->state == CM_WORKER_FORKING && fds[0] >= 0 && fds[1] >= 0)
            cm_worker__adopt(w, m, cm_steal_fd(&fds[0]), cm_steal_fd(&fds[1]));
        await_forks(sb);
        return;
    case CM_CONTROL_FAILED:
        on_failed(sb, m);
        await_forks(sb);
        return;
    case CM_CONTROL_EXITED:
        if (w)
            cm_worker__exited(w, m);
        return;
    case CM_CONTROL_FORK:
    case CM_CONTROL_LIMIT:
        return;
    }
}

/** Take the descriptors out of a message; a slot without one stays -1. */
static void take_fds(struct msghdr *msg, int fds[2])
{
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n && i < 2; i++)
        memcpy(&fds[i], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
}

static void on_control(void *user, unsigned events)
{
    cm_sandbox *sb = user;
    struct cm_zygote_link *z = &sb->zygote;

    (void)events;
    while (z->control_fd >= 0) {
        union {
            struct cmsghdr head;
            char bytes[CMSG_SPACE(2 * sizeof(int))];
        } space = {0};
        struct cm_control_msg m = {0};
        struct iovec part = {&m, sizeof(m)};
        struct msghdr msg = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof(space)};
        int fds[2] = {-1, -1};
        ssize_t n = recvmsg(z->control_fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n <= 0) {
            /* Its end; the pidfd tells the rest in a moment. Until then there is nothing more to read. */
            cm_watch_set(z->control, 0);
            break;
        }
        take_fds(&msg, fds);
        if (n == (ssize_t)sizeof(m))
            handle_message(sb, &m, fds);
        cm_fd_close(fds[0]);
        cm_fd_close(fds[1]);
    }
    cm_sandbox__wake(sb);
}

/** Sockets, pipe and process. Returns an errno value; nothing is left open on failure. */
static int start_process(cm_sandbox *sb)
{
    struct cm_zygote_link *z = &sb->zygote;
    int pair[2];
    int errors[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    cm_autoclose int ours = pair[0];
    cm_autoclose int theirs = high_fd(pair[1]);
    if (pipe2(errors, O_CLOEXEC) != 0)
        return errno;
    cm_autoclose int error_read = errors[0];
    cm_autoclose int error_write = high_fd(errors[1]);
    if (theirs < 0 || error_write < 0)
        return EMFILE;
    int rc = spawn(sb, theirs, error_write, &z->pid);
    if (rc != 0)
        return rc;
    z->pidfd = (int)syscall(SYS_pidfd_open, z->pid, 0);
    if (z->pidfd < 0) {
        rc = errno;
        (void)kill(z->pid, SIGKILL);
        (void)waitpid(z->pid, NULL, 0);
        return rc;
    }
    z->control_fd = cm_steal_fd(&ours);
    z->control = cm_watch_new(sb->loop, z->control_fd, on_control, sb);
    cm_watch_set(z->control, CM_WATCH_READ);
    z->death = cm_watch_new(sb->loop, z->pidfd, on_death, sb);
    cm_watch_set(z->death, CM_WATCH_READ);
    cm_buf_clear(&z->error_text);
    z->errors = cm_stream_new(sb->loop, cm_steal_fd(&error_read), -1, &error_events, sb);
    return 0;
}

void cm_control__start(cm_sandbox *sb)
{
    struct cm_zygote_link *z = &sb->zygote;

    if (!z->retry) {
        z->retry = cm_timer_new(sb->loop, retry, sb);
        z->error_text = CM_BUF_INIT(2 * CM_STDERR_KEEP_BYTES);
        z->pidfd = z->control_fd = -1;
    }
    if (z->pid)
        return;
    int rc = start_process(sb);
    if (rc == 0) {
        cm_timer_start(z->retry, start_ms(sb));
        return;
    }
    z->pid = 0;
    cm_autofree char *why = cm_asprintf("cannot start '%s': %s", sb->worker_path, strerror(rc));
    start_failed(sb, why);
}

bool cm_control__send(cm_sandbox *sb, const struct cm_control_msg *m)
{
    if (!sb->zygote.pid)
        return false;
    return send(sb->zygote.control_fd, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*m);
}

bool cm_control__fork(cm_sandbox *sb, uint64_t serial)
{
    const struct cm_control_msg m = {
        .type = CM_CONTROL_FORK, .version = CM_CONTROL_VERSION, .serial = serial};

    if (!cm_control__send(sb, &m))
        return false;
    if (sb->zygote.said_hello && !has_forks(sb))
        cm_timer_start(sb->zygote.retry, FORK_STARTS * start_ms(sb));
    return true;
}

void cm_control__stop(cm_sandbox *sb)
{
    struct cm_zygote_link *z = &sb->zygote;

    if (z->pid) {
        (void)syscall(SYS_pidfd_send_signal, z->pidfd, SIGKILL, NULL, 0);
        /* Watched descriptors do not block, so waitid on the pidfd would not either. */
        struct pollfd gone = {.fd = z->pidfd, .events = POLLIN};
        while (poll(&gone, 1, -1) < 0 && errno == EINTR)
            ;
        (void)waitid(P_PIDFD, (id_t)z->pidfd, &(siginfo_t){0}, WEXITED | WNOHANG);
    }
    drop_link(z);
    cm_timer_free(cm_steal(&z->retry));
    cm_buf_done(&z->error_text);
}
