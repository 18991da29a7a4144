/* What must be settled before the engine exists: its options are environment variables, its allocator has a
 * thread of its own. */
#include "engine/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

struct option {
    const char *name, *value;
};

/*
 * A VM survives fork only if it has started no helper thread, and a limit on data holds only if everything
 * that grows is data. The engine reads these once, when the first VM is made.
 */
static const struct option options[] = {
    {"JSC_useConcurrentGC", "0"},
    {"JSC_numberOfGCMarkers", "1"},
    {"JSC_useConcurrentJIT", "0"},
    {"GIGACAGE_ENABLED", "0"},                    /* typed arrays in a cage of their own escape RLIMIT_DATA */
    {"JSC_jitMemoryReservationSize", "33554432"}, /* writable from the start, so it bounds compiled code */
    {"JSC_useWasm", "0"},                         /* asks for threads and a memory of its own */
    {"JSC_useSharedArrayBuffer", "0"},
    {"JSC_maxPerThreadStackUsage", "67108864"}, /* the bound is the stack's end: stack.c */
    /*
     * Optimising a function takes longer than a hundred calls of it, is done while the program waits, and is
     * done anew in each realm. A pass of a hundred tool calls met the engine's own threshold (a thousand
     * points, fifteen a call) with all of the prelude, and took three times as long; a loop or a recursion
     * that is worth it is at ten thousand a millisecond later. The thresholds for what was optimised before, and left
     * that code at a case it was not made for, stay the engine's: ten times as high, such a loop never got back.
     */
    {"JSC_thresholdForOptimizeAfterWarmUp", "10000"},
    /*
     * The last compiler (FTL) takes up to 80 ms for a large function while the program waits, and its memory from the program's limit. It
     * gains something in loops of numbers that run for longer than 50 ms, and the code that the one before it makes is slower where it
     * may come. It is also the largest and most intricate part of the engine that a hostile program can reach. ADR 10.
     */
    {"JSC_useFTLJIT", "0"},
};

void cm_engine_prepare_process(bool no_jit)
{
    void (*disable_scavenger)(void);

    for (size_t i = 0; i < CM_ARRAY_LEN(options); i++)
        (void)setenv(options[i].name, options[i].value, 1);
    if (no_jit)
        (void)setenv("JSC_useJIT", "0", 1);
    cm_engine__find_stack();
    /*
     * WTF::fastDisableScavenger(): a child forked while the allocator's thread holds its lock would spin for
     * ever. Exported, but in no header; where it is missing the caller counts threads and creates the VM in
     * the child instead.
     */
    *(void **)&disable_scavenger = dlsym(RTLD_DEFAULT, "_ZN3WTF20fastDisableScavengerEv");
    if (disable_scavenger)
        disable_scavenger();
}

#define SHAPES_RESERVED ((uint64_t)4 << 30)  /* the reservation for object shapes */
#define SHAPES_KEPT     ((uint64_t)32 << 20) /* a million shapes; an ordinary program uses thousands */

/*
 * The reservation is 4 GB at a multiple of 4 GB: addresses of shapes are 32-bit offsets in it. The kernel may
 * show it joined to a neighbour, or split where protections differ, so look for a run of adjacent anonymous
 * mappings that holds such a block whole; nothing else in the process is that large.
 */
#define MAPS_LINE "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %255s"

static uintptr_t capped_start; /* of what was taken away; 0: nothing */

bool cm_engine_is_capped(const void *address)
{
    return capped_start && (uintptr_t)address >= capped_start &&
           (uintptr_t)address - capped_start < SHAPES_RESERVED - SHAPES_KEPT;
}

static bool find_reservation(FILE *maps, uint64_t *start)
{
    uint64_t run_start = 0, run_end = 0, from, to, aligned;
    char line[512], path[256];

    while (fgets(line, sizeof(line), maps)) {
        path[0] = '\0';
        int n = sscanf(line, MAPS_LINE, &from, &to, path); /* allowed: the kernel's own text */
        if (n < 2 || path[0])
            continue;
        if (from != run_end)
            run_start = from;
        run_end = to;
        aligned = (run_start + SHAPES_RESERVED - 1) & ~(SHAPES_RESERVED - 1);
        if (run_end >= aligned + SHAPES_RESERVED) {
            *start = aligned;
            return true;
        }
    }
    return false;
}

cm_status cm_engine_cap_reservations(struct cm_err *err)
{
    uint64_t start = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found;

    if (!maps)
        return cm_err_set(err, CM_E_UNAVAILABLE, "/proc/self/maps cannot be read: %s", strerror(errno));
    found = find_reservation(maps, &start);
    (void)fclose(maps);
    if (!found)
        return cm_err_set(err, CM_E_UNAVAILABLE,
                          "the engine's reservation of 4 GB is not in /proc/self/maps");
    if (mprotect((void *)(uintptr_t)(start + SHAPES_KEPT), SHAPES_RESERVED - SHAPES_KEPT, PROT_NONE) != 0)
        return cm_err_errno(err, errno, "mprotect of the engine's reservation");
    capped_start = (uintptr_t)(start + SHAPES_KEPT);
    return CM_OK;
}
