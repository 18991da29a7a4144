/**
 * The system calls a worker may make. Everything else kills the process, and the host reports a crash.
 *
 * The list is short because a worker does three things: it computes, it manages its own anonymous memory, and
 * it reads and writes the one socket it has. An entry is either needed (and harmless to a process without
 * files, network, names or children), or it is refused with an error because a library calls it in passing
 * and can do without. What programs need that mean well is counted by tests/unit/test_filter.c, which fails
 * for an entry that serves none of them; arguments that are not needed are not allowed either. Built once in
 * the zygote; loading it costs microseconds, building it milliseconds.
 */
#include "worker/lockdown.h"

#include "base/fd.h"

#include <errno.h>
#include <linux/futex.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CONDITIONS_MAX 3
#define ALLOW          0
#define SOCKET_FD      0

/* Bits of mmap beyond "private and anonymous": neither makes memory shared, executable, or another's. */
#define MAP_HARMLESS (MAP_FIXED | MAP_NORESERVE)
#define NOT(bits)    (~(uint64_t)(bits))

struct call_row {
    int nr;
    int eno; /* ALLOW, or the error it gets */
    unsigned n_conditions;
    struct scmp_arg_cmp conditions[CONDITIONS_MAX]; /* on the arguments, all of which must hold */
    const char *why;                                /* why needed, and why harmless */
};

/*
 * New memory is private, anonymous and never executable, and no memory becomes executable: the engine's JIT
 * pool was mapped before the filter, and code that an exploit brings along has nowhere else to go. MAP_FIXED
 * is how the engine gives back the middle of a reservation; it can only replace the process's own memory, by
 * memory that cannot be executed. Protection bits other than read and write (growth in a direction, memory
 * tags) are not used, flags other than the two above (shared, locked, huge, growing) neither.
 */
static const struct call_row calls[] = {
    {SCMP_SYS(recvfrom),
     ALLOW,
     3,
     {{0, SCMP_CMP_EQ, SOCKET_FD, 0}, {3, SCMP_CMP_MASKED_EQ, NOT(MSG_DONTWAIT), 0}, {4, SCMP_CMP_EQ, 0, 0}},
     "frames from the host, with and without waiting; only the socket, whatever else were open; it takes "
     "bytes and never descriptors"},
    {SCMP_SYS(sendto),
     ALLOW,
     3,
     {{0, SCMP_CMP_EQ, SOCKET_FD, 0}, {3, SCMP_CMP_EQ, MSG_NOSIGNAL, 0}, {4, SCMP_CMP_EQ, 0, 0}},
     "frames to the host; no address, so only to where the socket is connected; no room for descriptors; no "
     "flag that leads elsewhere in the kernel, such as out-of-band data"},
    {SCMP_SYS(mmap),
     ALLOW,
     2,
     {{2, SCMP_CMP_MASKED_EQ, NOT(PROT_READ | PROT_WRITE), 0},
      {3, SCMP_CMP_MASKED_EQ, NOT(MAP_HARMLESS), MAP_PRIVATE | MAP_ANONYMOUS}},
     "heaps grow; above says why it is harmless, RLIMIT_DATA bounds it"},
    {SCMP_SYS(mprotect),
     ALLOW,
     1,
     {{2, SCMP_CMP_MASKED_EQ, NOT(PROT_READ | PROT_WRITE), 0}},
     "heaps grow into their reservation; as above, and what becomes writable counts for RLIMIT_DATA"},
    {SCMP_SYS(munmap), ALLOW, 0, {{0}}, "the allocator gives memory back; only its own address space"},
    {SCMP_SYS(madvise),
     ALLOW,
     1,
     {{2, SCMP_CMP_EQ, MADV_DONTNEED, 0}},
     "the collector gives pages back; only its own address space"},
    {SCMP_SYS(madvise),
     ALLOW,
     1,
     {{2, SCMP_CMP_EQ, MADV_DONTDUMP, 0}},
     "the same, at the same place; there is no core file"},
    {SCMP_SYS(madvise), ALLOW, 1, {{2, SCMP_CMP_EQ, MADV_DODUMP, 0}}, "and back; there is no core file"},
    {SCMP_SYS(brk), ALLOW, 0, {{0}}, "malloc; bounded by RLIMIT_DATA, never executable"},
    {SCMP_SYS(futex),
     ALLOW,
     1,
     {{1, SCMP_CMP_EQ, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 0}},
     "one-time initialisation wakes whoever waits; nobody does: one thread, no shared memory. No other "
     "operation"},
    {SCMP_SYS(sched_yield),
     ALLOW,
     0,
     {{0}},
     "spin locks of the allocator, and who looks for an answer; gives time away, takes none"},
    {SCMP_SYS(clock_gettime),
     ALLOW,
     1,
     {{0, SCMP_CMP_LE, CLOCK_TAI, 0}},
     "time, where the vDSO cannot answer; the machine's own clocks, not those of another process or a "
     "device"},
    {SCMP_SYS(gettimeofday), ALLOW, 0, {{0}}, "the same, as the time zone library asks"},
    {SCMP_SYS(getrusage),
     ALLOW,
     1,
     {{0, SCMP_CMP_EQ, RUSAGE_SELF, 0}},
     "the engine and our collector ask how much was used; its own numbers"},
    {SCMP_SYS(getpid), ALLOW, 0, {{0}}, "abort; a number"},
    {SCMP_SYS(gettid), ALLOW, 0, {{0}}, "the same"},
    {SCMP_SYS(rt_sigprocmask),
     ALLOW,
     0,
     {{0}},
     "abort, a new VM, and the way to a pass's stack and back; SIGKILL cannot be blocked"},
    {SCMP_SYS(rt_sigaction),
     ALLOW,
     0,
     {{0}},
     "the same; SIGKILL takes no handler, and there is no call to return from one"},
    {SCMP_SYS(exit_group), ALLOW, 0, {{0}}, "the end"},

    {SCMP_SYS(write),
     EBADF,
     0,
     {{0}},
     "a library wakes its own event loop, and last words go to standard error; both were closed, frames are "
     "sent by sendto"},
    {SCMP_SYS(pread64),
     EBADF,
     0,
     {{0}},
     "the allocator asks how full the machine is, from a file it opened in the zygote"},
    {SCMP_SYS(openat),
     ENOENT,
     0,
     {{0}},
     "ICU and libc look for files that would override what is built in; no file exists for a worker"},
    {SCMP_SYS(newfstatat), ENOENT, 0, {{0}}, "the same, looking only"},
    {SCMP_SYS(mremap),
     ENOSYS,
     0,
     {{0}},
     "realloc tries it first and copies without it; it could grow executable memory"},
    {SCMP_SYS(tgkill), EPERM, 0, {{0}}, "abort tries it, then traps; no signal is ever sent"},
};

static bool add_calls(scmp_filter_ctx ctx)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(calls); i++) {
        const struct call_row *c = &calls[i];
        uint32_t action = c->eno ? SCMP_ACT_ERRNO((uint32_t)c->eno) : SCMP_ACT_ALLOW;
        /* Exactly: a rule that the library would have to bend for this architecture is an error, not a wider
         * rule. */
        if (seccomp_rule_add_exact_array(ctx, action, c->nr, c->n_conditions, c->conditions) != 0)
            return false;
    }
    return true;
}

/** The filter's bytes by way of a memfd: libseccomp 2.5 exports to a descriptor only. */
static bool export_program(scmp_filter_ctx ctx, struct cm_lock *l)
{
    cm_autoclose int fd = memfd_create("filter", MFD_CLOEXEC);
    char *text = NULL;
    size_t len = 0;

    if (fd < 0 || seccomp_export_bpf(ctx, fd) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return false;
    if (cm_read_fd(fd, BPF_MAXINSNS * sizeof(struct sock_filter), &text, &len, NULL) != CM_OK)
        return false;
    l->filter.filter = (struct sock_filter *)(void *)text;
    l->filter.len = (unsigned short)(len / sizeof(struct sock_filter));
    return true;
}

bool cm_lock__build_filter(struct cm_lock *l)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    /* Calls by way of another architecture's entry (32 bits, x32) are not looked at but end the process as
     * well. */
    bool ok = ctx && seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
              add_calls(ctx) && export_program(ctx, l);

    seccomp_release(ctx);
    if (!ok)
        errno = ENOSYS;
    return ok;
}
