/** The zygote's loop. Private to this folder. */
#ifndef CM_WORKER_ZYGOTE_H
#define CM_WORKER_ZYGOTE_H

#include "worker/lockdown.h"
#include "worker/worker.h"

/** What a trial process reports through its socket. */
struct cm_trial {
    uint64_t layers;
    bool ok;
    enum cm_layer failed;
    int eno;
};

struct cm_zygote {
    int control_fd;
    int signal_fd;      /* SIGCHLD */
    pid_t trial_pid;    /* -1: there was none to be had */
    int trial_fd;       /* where it reports */
    bool pid_ns;        /* workers get a pid namespace each */
    bool made;          /* a worker has been */
    bool warm;          /* the engine has been warmed */
    bool unfit;         /* and did not run under lock-down */
    bool vm_per_worker; /* `engine` is NULL; each worker makes its own */
    bool uncapped;      /* the engine's reservations stand: memory is bounded by the host's samples */
    struct cm_worker_opts opts;
    cm_engine *engine;
    struct cm_lock lock;
    /* Set when a trial worker could not be locked down: no FORK is ever granted then. */
    bool refused;
    enum cm_layer refused_layer;
    int refused_eno;
};

/**
 * Lock a trial process down as a worker, to learn which layers hold and whether workers can have their own
 * pid namespace. Between cm_lockdown_begin and the engine: a small process is forked in no time, and takes its
 * steps on another processor while the engine is made.
 */
void cm_zygote_start_trial(struct cm_zygote *z);
/** After cm_lockdown_root: fills z->lock.layers and refused. Blocks until the trial has ended. */
void cm_zygote_end_trial(struct cm_zygote *z);
/** Say HELLO, then serve the control socket until it closes. Returns in the zygote only. */
void cm_zygote_run(struct cm_zygote *z);

#endif
