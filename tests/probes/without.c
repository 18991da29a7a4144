/**
 * A worker without some layers: WITHOUT is the set of enum cm_layer that is left out, fixed when this file is
 * compiled. The linker puts these functions in front of the real ones (--wrap), whose object files are the
 * real worker's.
 *
 * A step that must hold is not left undone unnoticed in the real worker; here it claims to have held. The
 * engine is left out too: a probe needs none, and there are many workers to make.
 */
#include "engine/engine.h"
#include "worker/lockdown.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEFT_OUT(layer) (((uint64_t)(WITHOUT) >> (layer)&1) != 0)

/** A step that is refused when its layer is left out, as a kernel would that does not have it. */
#define REFUSED(step, layer)                               \
    bool __real_##step(struct cm_lock *l);                 \
    bool __wrap_##step(struct cm_lock *l);                 \
    bool __wrap_##step(struct cm_lock *l)                  \
    {                                                      \
        errno = EPERM;                                     \
        return LEFT_OUT(layer) ? false : __real_##step(l); \
    }
/** A step without which no worker starts: it claims to have held. */
#define CLAIMED(step, layer)                              \
    bool __real_##step(struct cm_lock *l);                \
    bool __wrap_##step(struct cm_lock *l);                \
    bool __wrap_##step(struct cm_lock *l)                 \
    {                                                     \
        return LEFT_OUT(layer) ? true : __real_##step(l); \
    }

REFUSED(cm_lock__leave_root, CM_LAYER_UNPRIVILEGED)
REFUSED(cm_lock__user_ns, CM_LAYER_USER_NS)
REFUSED(cm_lock__net_ns, CM_LAYER_NET_NS)
REFUSED(cm_lock__ipc_ns, CM_LAYER_IPC_NS)
REFUSED(cm_lock__uts_ns, CM_LAYER_UTS_NS)
REFUSED(cm_lock__mount_ns, CM_LAYER_MOUNT_NS)
REFUSED(cm_lock__empty_root, CM_LAYER_EMPTY_ROOT)
REFUSED(cm_lock__drop_most_caps, CM_LAYER_UNPRIVILEGED)
REFUSED(cm_lock__landlock, CM_LAYER_LANDLOCK)
REFUSED(cm_lock__memory, CM_LAYER_MEMORY)
CLAIMED(cm_lock__rlimits, CM_LAYER_RLIMITS)
CLAIMED(cm_lock__die_with_zygote, CM_LAYER_NO_NEW_PRIVS)
CLAIMED(cm_lock__seccomp, CM_LAYER_SECCOMP)

bool __real_cm_lock__only_socket(struct cm_lock *l);
bool __wrap_cm_lock__only_socket(struct cm_lock *l);
/** Without the limits the worker also keeps what the zygote had open, its control socket among it. */
bool __wrap_cm_lock__only_socket(struct cm_lock *l)
{
    if (!LEFT_OUT(CM_LAYER_RLIMITS))
        return __real_cm_lock__only_socket(l);
    l->worker_fd = dup2(l->worker_fd, 0);
    return l->worker_fd == 0;
}

bool __real_cm_lock__drop_all_caps(struct cm_lock *l);
bool __wrap_cm_lock__drop_all_caps(struct cm_lock *l);
/** The kernel loads no filter into a process that may gain privileges, unless it has this capability: it
 * keeps it then. */
bool __wrap_cm_lock__drop_all_caps(struct cm_lock *l)
{
    if (LEFT_OUT(CM_LAYER_UNPRIVILEGED))
        return false;
    return LEFT_OUT(CM_LAYER_NO_NEW_PRIVS) ? true : __real_cm_lock__drop_all_caps(l);
}

/* libc's are variadic; on this machine whole numbers arrive the same way, and what a caller leaves out is not
 * looked at. */
int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    if (option == PR_SET_NO_NEW_PRIVS && LEFT_OUT(CM_LAYER_NO_NEW_PRIVS))
        return 0;
    return __real_prctl(option, a, b, c, d);
}

long __real_syscall(long nr, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f);
/** The pid namespace is made by the call that makes the worker. */
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
    if (nr == SYS_clone && (a & CLONE_NEWPID) != 0 && LEFT_OUT(CM_LAYER_PID_NS)) {
        errno = EPERM;
        return -1;
    }
    return __real_syscall(nr, a, b, c, d, e, f);
}

/** The engine, as the zygote sees it. */
cm_status __wrap_cm_engine_new(const struct cm_engine_opts *opts, cm_engine **out, struct cm_err *err);
cm_status __wrap_cm_engine_new(const struct cm_engine_opts *opts, cm_engine **out, struct cm_err *err)
{
    static char nothing;

    (void)opts, (void)err;
    *out = (cm_engine *)(void *)&nothing;
    return CM_OK;
}

cm_status __wrap_cm_engine_cap_reservations(struct cm_err *err);
cm_status __wrap_cm_engine_cap_reservations(struct cm_err *err)
{
    (void)err;
    return CM_OK;
}

cm_status __wrap_cm_engine_warm(cm_engine *e, struct cm_err *err);
cm_status __wrap_cm_engine_warm(cm_engine *e, struct cm_err *err)
{
    (void)e, (void)err;
    return CM_OK;
}

void __wrap_cm_engine_touch(cm_engine *e);
void __wrap_cm_engine_touch(cm_engine *e)
{
    (void)e;
}

void __wrap_cm_engine_prepare_realm(cm_engine *e);
void __wrap_cm_engine_prepare_realm(cm_engine *e)
{
    (void)e;
}

cm_status __wrap_cm_engine_self_test(cm_engine *e, struct cm_err *err);
cm_status __wrap_cm_engine_self_test(cm_engine *e, struct cm_err *err)
{
    (void)e, (void)err;
    return CM_OK;
}
