/**
 * How a worker that ran out of memory is told from one that crashed. Both end by a signal: the engine does not go on without
 * memory that it must have, and traps. What differs is that the kernel had refused it some before.
 *
 * The engine's allocators get their memory from mmap and mprotect of libc. This program has functions of these names, which the
 * dynamic linker finds first; they make the same system calls and remember a refusal. A handler of the fault signals then says
 * which end it is: by an exit status where memory was refused, by the signal itself otherwise. A program that took over its
 * process could claim the one or the other; it would mislead nobody but its own caller about its own end, and what bounds memory
 * stays in the kernel.
 */
#include "worker/memory.h"

#include "base/sanitize.h"
#include "wire/control.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HANDLER_STACK_BYTES 16384 /* a fault may be the end of the program's own stack */
#define LITTLE_BYTES        (1u << 20) /* malloc's requests do not pass here; one that fails leaves less than this */

static volatile sig_atomic_t refused; /* by the kernel, since the run began */
static size_t mapped_bytes;           /* of data, ever */
static char *volatile nowhere;        /* NULL, which the compiler shall not know */

#if CM_SANITIZED
/* As without a sanitizer: what does not fit into memory is refused and told. A worker has no environment that could say so. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#else
/* Visible, so that the libraries' calls come here. The sanitizers have functions of their own in this place. */
#define INSTEAD __attribute__((visibility("default")))

static void note(bool ok, size_t len, int prot)
{
    if (!ok && errno == ENOMEM)
        refused = 1;
    else if (ok && (prot & PROT_WRITE) != 0)
        mapped_bytes += len;
}

static void *map(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    long at = syscall(SYS_mmap, addr, len, prot, flags, fd, offset);

    note(at != -1, len, prot);
    return (void *)at; /* NOLINT(performance-no-int-to-ptr): what the kernel gave */
}

/* Two names for one call: the headers choose between them by the size of a file offset. */
INSTEAD void *cm_memory__mmap(void *addr, size_t len, int prot, int flags, int fd,
                              off_t offset) __asm__("mmap");
INSTEAD void *cm_memory__mmap64(void *addr, size_t len, int prot, int flags, int fd,
                                off_t offset) __asm__("mmap64");
INSTEAD int cm_memory__mprotect(void *addr, size_t len, int prot) __asm__("mprotect");

void *cm_memory__mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map(addr, len, prot, flags, fd, offset);
}

void *cm_memory__mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map(addr, len, prot, flags, fd, offset);
}

int cm_memory__mprotect(void *addr, size_t len, int prot)
{
    long rc = syscall(SYS_mprotect, addr, len, prot);

    note(rc == 0, len, prot);
    return (int)rc;
}
#endif

/** Whether even a little memory would be refused now. What is mapped here is never given back: the process ends. */
static bool is_full(void)
{
    return syscall(SYS_mmap, NULL, LITTLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0) == -1;
}

/**
 * The filter has no return from a handler, so this is the end either way. The fault below is of the same kind as the one that led
 * here; its signal is blocked meanwhile, and the kernel then ends the process by it.
 */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (refused || is_full() || (sig == SIGSEGV && cm_engine_is_capped(info->si_addr)))
        _exit(CM_EXIT_MEMORY);
    if (sig == SIGSEGV || sig == SIGBUS)
        *(volatile char *)nowhere = 0;
    __builtin_trap();
}

bool cm_memory_watch(void)
{
    static char stack[HANDLER_STACK_BYTES];
    static bool has_stack;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT};
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction on = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (CM_SANITIZED)
        return true; /* a sanitizer's report is of more use, and there is no limit to meet */
    if (!has_stack && sigaltstack(&other, NULL) != 0)
        return false;
    has_stack = true;
    (void)sigemptyset(&on.sa_mask);
    for (size_t i = 0; i < CM_ARRAY_LEN(faults); i++)
        (void)sigaddset(&on.sa_mask, faults[i]);
    for (size_t i = 0; i < CM_ARRAY_LEN(faults); i++) {
        if (sigaction(faults[i], &on, NULL) != 0)
            return false;
    }
    return true;
}

void cm_memory_begin_run(void)
{
    refused = 0;
}

size_t cm_memory_mapped(void)
{
    return mapped_bytes;
}
