/**
 * What a zygote and a worker give up, as passes over one table (lockdown.c). Private to this folder.
 *
 * The first steps run once, before the engine is created. The root's steps follow it, since a VM opens
 * /dev/urandom at its birth; the zygote runs them, or each worker where it is the worker that creates the VM, and
 * the trial, which is over when the engine exists.
 * The worker's steps run between clone and frames. Every step stands alone: one that the kernel refuses costs
 * its own layer and nothing else, unless its row says `must`.
 */
#ifndef CM_WORKER_LOCKDOWN_H
#define CM_WORKER_LOCKDOWN_H

#include "base/base.h"
#include "base/sanitize.h"
#include "wire/control.h"

#include <linux/filter.h>
#include <stdint.h>
#include <sys/types.h>

struct cm_lock {
    uint64_t layers;          /* bit set of enum cm_layer that hold so far */
    uint64_t lost;            /* the ones of which some step failed; such a layer never holds */
    int status_fd;            /* /proc/self/status of the zygote, opened while there is a /proc; -1 none */
    struct sock_fprog filter; /* the system call filter, built once; owned */

    /* For the worker's steps. */
    int worker_fd;      /* the worker's socket, becomes descriptor 0 */
    uint64_t vmdata_kb; /* VmData at the clone; 0 unknown */

    /* After a step that must not fail has failed. */
    enum cm_layer failed;
    int eno;
};

/** The zygote's first steps. Never fails: what did not hold is missing in l->layers. */
void cm_lockdown_begin(struct cm_lock *l);
/** The steps that need the engine to exist. Never fails, as above. */
void cm_lockdown_root(struct cm_lock *l);
/** Run the worker's steps. False: l->failed and l->eno say which step that must hold did not. */
bool cm_lockdown_worker(struct cm_lock *l);

/** The layers that are the worker's steps alone, as a bit set. */
uint64_t cm_lockdown_worker_layers(void);
/** VmData of the zygote now, in KB; 0 when it cannot be known. */
uint64_t cm_lockdown_vmdata_kb(const struct cm_lock *l);

/** Build the system call filter into l->filter. False: errno says why. */
bool cm_lock__build_filter(struct cm_lock *l);

/** One step; false with errno when it did not hold. */
typedef bool cm_lock_step_fn(struct cm_lock *l);

cm_lock_step_fn cm_lock__leave_root, cm_lock__user_ns, cm_lock__net_ns, cm_lock__ipc_ns, cm_lock__uts_ns,
    cm_lock__mount_ns, cm_lock__empty_root, cm_lock__drop_most_caps, cm_lock__landlock;
cm_lock_step_fn cm_lock__only_socket, cm_lock__drop_all_caps, cm_lock__no_new_privs, cm_lock__die_with_zygote,
    cm_lock__rlimits, cm_lock__memory, cm_lock__seccomp;

#endif
