/*
 * Children without uv_spawn: that one installs a SIGCHLD handler, and a library must not. posix_spawn starts
 * them, a pidfd tells of their end, waitid reaps exactly the one we started.
 *
 * A child that is freed while it runs goes on as a "zombie keeper": no events, SIGTERM now, SIGKILL after two
 * seconds, then reaped.
 */
#include "loop/internal.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_TERM_GRACE_MS   2000
#define CHILD_OUTPUT_GRACE_MS 200

struct cm_child {
    cm_loop *loop;
    cm_child *next;
    pid_t pid;
    int pidfd;
    cm_watch *end;   /* on pidfd */
    cm_timer *timer; /* output grace after the end, or SIGKILL after the free */
    cm_stream *in;   /* its standard input */
    cm_stream *out;
    cm_stream *errs;
    bool exited;
    bool released; /* cm_child_free was called */
    int exit_code;
    int signal;
    struct cm_child_events ev;
    void *user;
};

struct pipes {
    int in[2], out[2], errs[2];
};

static void close_pipes(struct pipes *p)
{
    int *all[] = {p->in, p->out, p->errs};

    for (size_t i = 0; i < CM_ARRAY_LEN(all); i++) {
        cm_fd_close(all[i][0]);
        cm_fd_close(all[i][1]);
    }
}

static const char *env_value(const char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

/* The program's path by PATH of the *child's* environment, since posix_spawnp would look into ours. */
static cm_status find_program(const struct cm_child_spec *spec, char **out, struct cm_err *err)
{
    const char *name = spec->argv[0];
    const char *path = env_value(spec->env, "PATH");

    if (strchr(name, '/')) {
        *out = cm_strdup(name);
        return CM_OK;
    }
    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *p = path; *name;) {
        size_t n = strcspn(p, ":");
        char *full = cm_asprintf("%.*s%s%s", (int)n, p, n ? "/" : "./", name);
        if (access(full, X_OK) == 0) {
            *out = full;
            return CM_OK;
        }
        free(full);
        if (p[n] == '\0')
            break;
        p += n + 1;
    }
    (void)cm_err_set(err, CM_E_NOT_FOUND, "there is no program '%.200s' in PATH (%.400s)", name, path);
    return CM_E_NOT_FOUND;
}

static cm_status spawn_process(const struct cm_child_spec *spec, const char *program, struct pipes *p,
                               pid_t *pid, struct cm_err *err)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t all, none;

    (void)posix_spawn_file_actions_init(&fa);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawn_file_actions_adddup2(&fa, p->in[0], 0);
    (void)posix_spawn_file_actions_adddup2(&fa, p->out[1], 1);
    if (spec->stderr_events)
        (void)posix_spawn_file_actions_adddup2(&fa, p->errs[1], 2);
    else
        (void)posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    /* An embedder's descriptors may lack O_CLOEXEC; a child gets the three listed and no other. */
    (void)posix_spawn_file_actions_addclosefrom_np(&fa, 3);
    if (spec->cwd)
        (void)posix_spawn_file_actions_addchdir_np(&fa, spec->cwd);
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setpgroup(&attr, 0);
    (void)posix_spawnattr_setflags(&attr,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    static const char *const no_env[] = {NULL};
    /* posix_spawn takes char *const[] but changes nothing: the casts drop const only. */
    int rc = posix_spawn(pid, program, &fa, &attr, (char *const *)(uintptr_t)spec->argv,
                         (char *const *)(uintptr_t)(spec->env ? spec->env : no_env));
    (void)posix_spawn_file_actions_destroy(&fa);
    (void)posix_spawnattr_destroy(&attr);
    if (rc != 0)
        return cm_err_errno(err, rc, "cannot start '%.400s'%s%.400s", program, spec->cwd ? " in " : "",
                            spec->cwd ? spec->cwd : "");
    return CM_OK;
}

static void unlink_child(cm_child *c)
{
    for (cm_child **pp = &c->loop->children; *pp; pp = &(*pp)->next)
        if (*pp == c) {
            *pp = c->next;
            break;
        }
}

static void drop_streams(cm_child *c)
{
    cm_stream_free(c->in);
    cm_stream_free(c->out);
    cm_stream_free(c->errs);
    c->in = c->out = c->errs = NULL;
}

static void dispose(cm_child *c)
{
    unlink_child(c);
    drop_streams(c);
    cm_watch_free(c->end);
    cm_timer_free(c->timer);
    cm_fd_close(c->pidfd);
    free(c);
}

static void tell_exit(cm_child *c)
{
    void (*fn)(void *, int, int) = c->ev.on_exit;

    drop_streams(c);
    cm_timer_stop(c->timer);
    c->ev = (struct cm_child_events){0};
    if (fn)
        fn(c->user, c->exit_code, c->signal);
}

/* Told once it has ended and its output has been read to the end. */
static void maybe_tell(cm_child *c)
{
    if (c->exited && !c->out && !c->errs)
        tell_exit(c);
}

static void reap(cm_child *c)
{
    siginfo_t si = {0};

    while (waitid(P_PID, (id_t)c->pid, &si, WEXITED) != 0 && errno == EINTR)
        ;
    c->exited = true;
    c->exit_code = si.si_code == CLD_EXITED ? si.si_status : -1;
    c->signal = si.si_code == CLD_EXITED ? 0 : si.si_status;
}

static void on_end(void *user, unsigned events)
{
    cm_child *c = user;

    (void)events;
    cm_watch_set(c->end, 0);
    reap(c);
    if (c->released) {
        dispose(c);
        return;
    }
    cm_stream_free(c->in);
    c->in = NULL;
    cm_timer_start(c->timer, CHILD_OUTPUT_GRACE_MS);
    maybe_tell(c);
}

static void on_timer(void *user)
{
    cm_child *c = user;

    if (c->released)
        cm_child_kill(c, SIGKILL);
    else if (c->exited)
        tell_exit(c);
}

static void out_data(void *user, struct cm_str bytes)
{
    cm_child *c = user;

    if (c->ev.on_stdout)
        c->ev.on_stdout(c->user, bytes);
}

static void out_end(void *user, int eno)
{
    cm_child *c = user;

    (void)eno;
    cm_stream_free(c->out);
    c->out = NULL;
    maybe_tell(c);
}

static void err_data(void *user, struct cm_str bytes)
{
    cm_child *c = user;

    if (c->ev.on_stderr)
        c->ev.on_stderr(c->user, bytes);
}

static void err_end(void *user, int eno)
{
    cm_child *c = user;

    (void)eno;
    cm_stream_free(c->errs);
    c->errs = NULL;
    maybe_tell(c);
}

static const struct cm_stream_events in_events = {0};
static const struct cm_stream_events out_events = {.on_data = out_data, .on_end = out_end};
static const struct cm_stream_events err_events = {.on_data = err_data, .on_end = err_end};

static cm_child *adopt(cm_loop *l, pid_t pid, int pidfd, struct pipes *p)
{
    cm_child *c = cm_new(cm_child);

    c->loop = l;
    c->pid = pid;
    c->pidfd = pidfd;
    c->next = l->children;
    l->children = c;
    c->timer = cm_timer_new(l, on_timer, c);
    c->end = cm_watch_new(l, pidfd, on_end, c);
    cm_watch_set(c->end, CM_WATCH_READ);
    c->in = cm_stream_new(l, -1, cm_steal_fd(&p->in[1]), &in_events, c);
    c->out = cm_stream_new(l, cm_steal_fd(&p->out[0]), -1, &out_events, c);
    if (p->errs[0] >= 0)
        c->errs = cm_stream_new(l, cm_steal_fd(&p->errs[0]), -1, &err_events, c);
    return c;
}

cm_status cm_child_spawn(cm_loop *l, const struct cm_child_spec *spec, const struct cm_child_events *ev,
                         void *user, cm_child **out, struct cm_err *err)
{
    struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};
    cm_autofree char *program = NULL;
    pid_t pid = 0;
    cm_status st = find_program(spec, &program, err);

    if (st != CM_OK)
        return st;
    if (pipe2(p.in, O_CLOEXEC) != 0 || pipe2(p.out, O_CLOEXEC) != 0 ||
        (spec->stderr_events && pipe2(p.errs, O_CLOEXEC) != 0)) {
        st = cm_err_errno(err, errno, "cannot make a pipe for '%.400s'", program);
        goto out;
    }
    st = spawn_process(spec, program, &p, &pid, err);
    if (st != CM_OK)
        goto out;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        st = cm_err_errno(err, errno, "cannot watch '%.400s'", program);
        (void)kill(-pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        goto out;
    }
    (void)fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    *out = adopt(l, pid, pidfd, &p);
    (*out)->ev = *ev;
    (*out)->user = user;
out:
    close_pipes(&p);
    return st;
}

cm_status cm_child_write(cm_child *c, struct cm_str bytes, struct cm_err *err)
{
    if (!c->in)
        return cm_err_set(err, CM_E_IO, "its standard input is closed");
    return cm_stream_write(c->in, bytes, err);
}

void cm_child_close_stdin(cm_child *c)
{
    if (c->in)
        cm_stream_close_write(c->in);
}

void cm_child_kill(cm_child *c, int signal)
{
    /* Not reaped yet means the pid, and so the group, still is ours. */
    if (!c->exited && kill(-c->pid, signal) != 0)
        (void)kill(c->pid, signal);
}

pid_t cm_child_pid(const cm_child *c)
{
    return c->pid;
}

void cm_child_free(cm_child *c)
{
    if (!c || c->released)
        return;
    c->ev = (struct cm_child_events){0};
    c->released = true;
    if (c->exited) {
        dispose(c);
        return;
    }
    drop_streams(c);
    cm_child_kill(c, SIGTERM);
    cm_timer_start(c->timer, CHILD_TERM_GRACE_MS);
}

void cm_loop__end_children(cm_loop *l)
{
    while (l->children) {
        cm_child *c = l->children;
        cm_child_kill(c, SIGKILL);
        if (!c->exited)
            reap(c);
        dispose(c);
    }
}
