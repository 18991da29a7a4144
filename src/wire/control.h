/**
 * The control socket between host and zygote: SOCK_SEQPACKET, one fixed struct a message, descriptors by
 * SCM_RIGHTS.
 *
 *   host → zygote   FORK {serial}            asks for one worker
 *                   LIMIT {serial, vmdata_kb, cpu_us}
 *                                            soft limits on data and CPU of a worker, 0: as it is; for a host
 *                                            that may not set them itself
 *                   (the socket closing ends the zygote and with it every worker)
 *   zygote → host   HELLO {version, layers}  after lock-down; layers: bit set of enum cm_layer that hold
 *                   FORKED {serial, pid, vmdata_kb} + [socket, pidfd]
 *                                            the worker exists; it says HELLO on its socket when ready
 *                   FAILED {serial, eno, layer}
 *                                            it could not be made
 *                   EXITED {serial, pid, exit_code, exit_status, cpu_us, max_rss_kb}
 *                                            reaped; code and status as from waitid
 */
#ifndef CM_WIRE_CONTROL_H
#define CM_WIRE_CONTROL_H

#include <stdint.h>

#define CM_CONTROL_VERSION 1

/**
 * Exit statuses of zygote and workers that tell the host why. The range is not used by anything a program can
 * reach: a program cannot end its process at all. LOCKDOWN + enum cm_layer: that step failed and must not be
 * done without.
 */
#define CM_EXIT_USAGE     2  /* not started by a host */
#define CM_EXIT_MEMORY    60 /* worker: the kernel refused memory that it could not do without */
#define CM_EXIT_THREADS   61 /* zygote: the engine left helper threads; start again with --vm-per-worker */
#define CM_EXIT_CPU       62 /* worker: RLIMIT_CPU, the back-stop behind the host's own CPU limit */
#define CM_EXIT_SELF_TEST 63 /* worker: the engine did not run under lock-down */
#define CM_EXIT_LOCKDOWN  64

/** Data of a worker over its start: what it begins with, and what no setting lifts. The host sets each pass's
 * own. */
#define CM_WORKER_MEMORY_MB     128
#define CM_WORKER_MEMORY_MAX_MB 4096
/** Of the zygote: its control socket, its only descriptor but the standard three. */
#define CM_CONTROL_FD 3

/** The layers of the lock-down; the order is that of the design, section 3. */
#define CM_LAYER_MAP(X)                   \
    X(USER_NS, "user namespace")          \
    X(NET_NS, "network namespace")        \
    X(IPC_NS, "ipc namespace")            \
    X(MOUNT_NS, "mount namespace")        \
    X(UTS_NS, "uts namespace")            \
    X(PID_NS, "pid namespace")            \
    X(EMPTY_ROOT, "empty root directory") \
    X(UNPRIVILEGED, "unprivileged user")  \
    X(LANDLOCK, "landlock")               \
    X(NO_NEW_PRIVS, "no new privileges")  \
    X(RLIMITS, "resource limits")         \
    X(MEMORY, "memory limit")             \
    X(SECCOMP, "system call filter")

enum cm_layer {
#define CM_LAYER_ENUM_(name, text) CM_LAYER_##name,
    CM_LAYER_MAP(CM_LAYER_ENUM_)
#undef CM_LAYER_ENUM_
        CM_LAYER_COUNT_
};

enum cm_control_type {
    CM_CONTROL_FORK = 1,
    CM_CONTROL_HELLO,
    CM_CONTROL_FORKED,
    CM_CONTROL_FAILED,
    CM_CONTROL_EXITED,
    CM_CONTROL_LIMIT,
};

/** Fixed size, zero what a type does not use. */
struct cm_control_msg {
    uint32_t type;
    uint32_t version;
    uint64_t serial; /* chosen by the host, never reused */
    uint64_t layers; /* HELLO */
    int64_t pid;
    int32_t eno;
    uint32_t layer;      /* FAILED: which step */
    int32_t exit_code;   /* EXITED: si_code (CLD_EXITED, CLD_KILLED, CLD_DUMPED) */
    int32_t exit_status; /* EXITED: si_status */
    uint64_t cpu_us;
    uint64_t max_rss_kb;
    uint64_t vmdata_kb; /* FORKED: VmData of the worker at its start; 0: no memory limit can be set. LIMIT */
};

#endif
