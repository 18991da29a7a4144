/** What a worker knows of its own memory: whether the kernel refused it some, and how much was mapped. Private to this folder. */
#ifndef CM_WORKER_MEMORY_H
#define CM_WORKER_MEMORY_H

#include "base/base.h"
#include "engine/engine.h"

/**
 * Tell a crash for want of memory from any other by CM_EXIT_MEMORY, from now on. Again after a new VM, which takes the fault signals
 * for itself. False with errno: not possible.
 */
bool cm_memory_watch(void);
/** A program starts: what was refused before is not its doing. */
void cm_memory_begin_run(void);
/** Bytes of data that were mapped so far, touched or not. */
size_t cm_memory_mapped(void);

#endif
