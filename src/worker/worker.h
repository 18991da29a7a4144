/**
 * worker: the program inside the sandbox. `codemode-worker` is zygote and, forked from it, every worker.
 *
 *   main.c      options, the zygote's control loop (see control.h in wire for its messages)
 *   zygote.c    forks workers, reaps them, reports status and resource use
 *   lockdown.c  the list of steps that take everything away; one table, each row with why it is enough
 *   serve.c     the pass loop of one worker: frames in, engine, frames out
 *   garbage.c   when what passes have left is collected
 *   memory.c    tells a worker that ran out of memory from one that crashed
 *
 * It is not a host: it opens nothing, knows no secret, and everything it says is checked by the other side.
 */
#ifndef CM_WORKER_WORKER_H
#define CM_WORKER_WORKER_H

#include "base/base.h"
#include "engine/engine.h"

struct cm_worker_opts {
    bool vm_per_pass; /* isolation "vm": each pass gets a VM of its own, made while the worker is idle */
    bool
        may_look; /* there is more than one processor: who looks for an answer does not keep it from being made */
    struct cm_engine_opts engine;
};

/**
 * Serve passes on `fd` (blocking stream socket) until it closes. Sends HELLO first, then follows the state
 * table of wire/wire.h. Returns when the host hung up; breaking the protocol exits the process. Takes the
 * engine; the process ends with it.
 */
void cm_worker_serve(const struct cm_worker_opts *opts, cm_engine *take_engine, int fd);

#endif
