/** How many processors this process may run on: whether it makes sense to look for what another process makes, before sleeping. */
#ifndef CM_BASE_PROCESSORS_H
#define CM_BASE_PROCESSORS_H

#include <sched.h>

/** Microseconds that are looked for an answer, with sched_yield in between; and within which the last one must have come. ADR 9. */
#define CM_LOOK_US 200
#define CM_SOON_US 300

/** 1 to CPU_SETSIZE; 1 where it cannot be known. A quota of processor time (cgroups) does not count. */
static inline unsigned cm_processors(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 1)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

#endif
