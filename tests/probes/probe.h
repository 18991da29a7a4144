/**
 * probes: what a program would do that has taken over its worker, by raw system call.
 *
 * `codemode-worker-probe` is the real worker (its zygote, its lock-down, its filter: the same object files)
 * with another serve function: RUN names a probe in place of a program, and the answer is what became of it.
 * A probe that is neither killed nor refused has got out. Each other program of this folder is the same with
 * one layer of the lock-down left out, by the linker: the real worker has no such switch.
 */
#ifndef CM_TESTS_PROBES_PROBE_H
#define CM_TESTS_PROBES_PROBE_H

#include "base/base.h"

/** How a probe must end under all layers; anything above 0 is the errno value it gets. */
#define PROBE_DIES    (-1) /* the filter ends the process: SIGSYS */
#define PROBE_CRASHES (-2) /* it ends by another signal, or by SIGSYS */
#define PROBE_LIMIT   (-3) /* the host ends it with a limit */
#define PROBE_BREAKS  (-4) /* the host ends it: it broke the protocol */

/** In place of an argument: a process that the test names. */
enum {
    PROBE_HOST = 0x7e570001, /* the program that runs the sandbox */
    PROBE_ZYGOTE,
    PROBE_SIBLING, /* another worker of the same zygote */
};

struct probe_targets {
    long host, zygote, sibling;
};

struct probe {
    const char *name;
    const char *attempts;
    int expected;
    /**
     * Without the filter it succeeds: no other layer is there to stop it, and this says why that is no way
     * out. NULL: another layer refuses it as well.
     */
    const char *filter_only;
    long nr; /* -1: run does it */
    long args[6];
    long (*run)(const struct probe_targets *t); /* as a system call: what it got, or a negative errno value */
};

extern const struct probe cm_probes[];
extern const size_t cm_n_probes;

/** One system call by the instruction itself: no function of libc is between. */
long cm_probe_call(long nr, long a, long b, long c, long d, long e, long f);
/** What cannot be a row of numbers. */
long cm_probe_fork(const struct probe_targets *t), cm_probe_vfork(const struct probe_targets *t),
    cm_probe_thread(const struct probe_targets *t), cm_probe_clone3(const struct probe_targets *t),
    cm_probe_fork_bomb(const struct probe_targets *t), cm_probe_memfd_exec(const struct probe_targets *t),
    cm_probe_dup_many(const struct probe_targets *t), cm_probe_open_many(const struct probe_targets *t),
    cm_probe_socket_many(const struct probe_targets *t), cm_probe_send_fd(const struct probe_targets *t),
    cm_probe_receive_fd(const struct probe_targets *t), cm_probe_read_sibling(const struct probe_targets *t),
    cm_probe_write_host(const struct probe_targets *t), cm_probe_fill_memory(const struct probe_targets *t),
    cm_probe_spin(const struct probe_targets *t), cm_probe_spin_deaf(const struct probe_targets *t),
    cm_probe_socket_32(const struct probe_targets *t), cm_probe_fork_32(const struct probe_targets *t),
    cm_probe_run_data(const struct probe_targets *t), cm_probe_sigreturn(const struct probe_targets *t),
    cm_probe_host_frame(const struct probe_targets *t), cm_probe_huge_frame(const struct probe_targets *t),
    cm_probe_ready_twice(const struct probe_targets *t), cm_probe_proc_host(const struct probe_targets *t),
    cm_probe_queue_signal(const struct probe_targets *t), cm_probe_lift_limits(const struct probe_targets *t),
    cm_probe_clock_of_host(const struct probe_targets *t);

#endif
