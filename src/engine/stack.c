/*
 * The program's stack. The engine lets JavaScript go down to a reserve above the lowest address of its
 * thread's stack, and reads where that is when the thread first meets it: one bound for a whole process. A
 * pass gets a bound of its own by beginning lower: its entry runs on the last part of the thread's stack,
 * as large as the pass may use and the reserve beneath it. What lies between there and the caller stays
 * untouched (a collection reads it), so the stack of the process is made no larger than its largest pass
 * needs.
 *
 * It holds because every path of the engine that recurses (calls, the parser, JSON, regular expressions,
 * sorting) compares the stack pointer with that one bound; beneath the reserve stands the kernel's own
 * limit, whose fault ends the process.
 */
#include "engine/internal.h"

#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#define SOFT_RESERVE_BYTES \
    (128u << 10)                 /* JSC_softReservedZoneSize: what the engine keeps free for its own C++ */
#define CALLER_BYTES (64u << 10) /* of ours, above the pass */

static char *lowest; /* of the thread's stack; NULL: not known, and every pass has all of it */

size_t cm_engine_stack_bytes(uint32_t stack_kb)
{
    /* The parser works above the passes, in as much again as the smallest of them. */
    return ((size_t)stack_kb << 10) + SOFT_RESERVE_BYTES + CM_ENGINE_STACK_OWN_BYTES;
}

void cm_engine__find_stack(void)
{
    pthread_attr_t attr;
    struct rlimit limit;
    size_t size = 0;
    void *low = NULL;

    lowest = NULL;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    /*
     * The main thread's stack grows on demand up to the limit less a page, which is also how the engine
     * reckons.
     */
    if (pthread_attr_getstack(&attr, &low, &size) == 0 && getrlimit(RLIMIT_STACK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        lowest = (char *)low + size - limit.rlim_cur + (size_t)sysconf(_SC_PAGESIZE);
    (void)pthread_attr_destroy(&attr);
}

/** What the context to enter calls; a context takes integers only, and there is one thread. */
static struct entry {
    void (*fn)(void *user);
    void *user;
} entry;

static void enter(void)
{
    struct entry e = entry;

    e.fn(e.user);
}

void cm_engine__on_stack(uint32_t stack_kb, void (*fn)(void *user), void *user)
{
    size_t bytes = ((size_t)stack_kb << 10) + SOFT_RESERVE_BYTES;
    char *here = __builtin_frame_address(0);
    ucontext_t caller, pass;

    /* A process started with less stack than asked for (a hard limit) gives what it has. */
    if (stack_kb == 0 || !lowest || here < lowest + bytes + CALLER_BYTES || getcontext(&pass) != 0) {
        fn(user);
        return;
    }
    entry = (struct entry){fn, user};
    pass.uc_stack.ss_sp = lowest;
    pass.uc_stack.ss_size = bytes;
    pass.uc_link = &caller;
    makecontext(&pass, enter, 0);
    int rc = swapcontext(&caller, &pass);
    assert(rc == 0);
    (void)rc;
}
