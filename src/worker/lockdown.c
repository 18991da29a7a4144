/**
 * The lock-down as a list that can be audited: what is taken away, in which order, and why that is enough.
 *
 * The order matters in five places. Root is left before the user namespace is made, so that the namespace's
 * owner is an unprivileged user outside it. Namespaces come before the empty root, which needs the mount
 * namespace's rights. Capabilities go after both. The engine is created between the first steps and the
 * root's: it reads /dev/urandom once. The filter is last, since every other step needs calls that it forbids.
 */
#include "worker/lockdown.h"

#include "base/parse.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum phase { BEGIN, ROOT, WORKER };

struct step {
    enum phase phase;
    enum cm_layer layer;
    bool must; /* without it no program runs */
    cm_lock_step_fn *run;
    const char *why; /* why it is enough for what it is there for */
};

static const struct step steps[] = {
    {BEGIN, CM_LAYER_UNPRIVILEGED, false, cm_lock__leave_root,
     "a user id that owns nothing on the machine: what file permissions guard stays guarded if all else "
     "fails"},
    {BEGIN, CM_LAYER_USER_NS, false, cm_lock__user_ns,
     "capabilities from here on count inside the namespace only; the kernel outside sees an ordinary user"},
    {BEGIN, CM_LAYER_NET_NS, false, cm_lock__net_ns,
     "no interface but a loopback that is down: nothing can be reached, abstract Unix sockets included"},
    {BEGIN, CM_LAYER_IPC_NS, false, cm_lock__ipc_ns,
     "no System V or POSIX queue of anyone else has a name here"},
    {BEGIN, CM_LAYER_UTS_NS, false, cm_lock__uts_ns, "host and domain name cannot be changed for others"},
    {ROOT, CM_LAYER_MOUNT_NS, false, cm_lock__mount_ns,
     "the mounts below are seen by no one else, and no later mount is seen here"},
    {ROOT, CM_LAYER_EMPTY_ROOT, false, cm_lock__empty_root,
     "no path names anything, and no descriptor of a directory is left to start from"},
    {ROOT, CM_LAYER_UNPRIVILEGED, false, cm_lock__drop_most_caps,
     "the zygote runs no program; the one capability it may keep makes process namespaces for its workers, "
     "which drop it"},
    {ROOT, CM_LAYER_LANDLOCK, false, cm_lock__landlock,
     "a second lock on files, TCP and signals in another part of the kernel than the filter; inherited, "
     "cannot be undone"},

    {WORKER, CM_LAYER_RLIMITS, true, cm_lock__only_socket,
     "the socket to the host is the only descriptor: no file, no directory, not the zygote's control socket"},
    {WORKER, CM_LAYER_UNPRIVILEGED, false, cm_lock__drop_all_caps,
     "no capability in any set, so none to use and none to inherit"},
    {WORKER, CM_LAYER_NO_NEW_PRIVS, true, cm_lock__no_new_privs,
     "no exec can raise privileges; it is also what lets the filter load"},
    {WORKER, CM_LAYER_NO_NEW_PRIVS, true, cm_lock__die_with_zygote,
     "killed when the zygote ends, which ends when the host does; its memory is closed to tracers and core "
     "files"},
    {WORKER, CM_LAYER_RLIMITS, true, cm_lock__rlimits,
     "no new descriptor, process, core file or locked memory; CPU time ends even if the host does not look"},
    {WORKER, CM_LAYER_MEMORY, false, cm_lock__memory,
     "data over the start is bounded by the kernel; the host lowers it for each pass"},
    {WORKER, CM_LAYER_SECCOMP, !CM_SANITIZED, cm_lock__seccomp,
     "what is not on the list of filter.c kills the process: no open, socket, clone, exec, ptrace, kill, new "
     "executable memory"},
};

/** Layers that several rows build hold only if all of their rows did. */
static bool run_steps(struct cm_lock *l, enum phase phase)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(steps); i++) {
        const struct step *s = &steps[i];
        uint64_t bit = UINT64_C(1) << s->layer;

        if (s->phase != phase)
            continue;
        if (s->run(l)) {
            l->layers |= bit;
            continue;
        }
        l->lost |= bit;
        if (s->must) {
            l->failed = s->layer;
            l->eno = errno;
            return false;
        }
    }
    l->layers &= ~l->lost;
    return true;
}

void cm_lockdown_begin(struct cm_lock *l)
{
    (void)run_steps(l, BEGIN);
}

void cm_lockdown_root(struct cm_lock *l)
{
    (void)run_steps(l, ROOT);
}

uint64_t cm_lockdown_worker_layers(void)
{
    uint64_t of[WORKER + 1] = {0};

    for (size_t i = 0; i < CM_ARRAY_LEN(steps); i++)
        of[steps[i].phase] |= UINT64_C(1) << steps[i].layer;
    return of[WORKER] & ~of[BEGIN] & ~of[ROOT];
}

bool cm_lockdown_worker(struct cm_lock *l)
{
    return run_steps(l, WORKER);
}

uint64_t cm_lockdown_vmdata_kb(const struct cm_lock *l)
{
    char text[4096];
    ssize_t n = l->status_fd < 0 ? -1 : pread(l->status_fd, text, sizeof(text) - 1, 0);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *at = strstr(text, "\nVmData:");
    int64_t kb = 0;
    if (!at)
        return 0;
    at += strlen("\nVmData:");
    at += strspn(at, " \t");
    return cm_parse_i64(cm_str_mk(at, strcspn(at, " \n")), &kb, NULL) == CM_OK && kb > 0 ? (uint64_t)kb : 0;
}
