/**
 * The system calls a worker may make. Everything else kills the process, and the host reports a crash.
 *
 * The list is short because a worker does three things: it computes, it manages its own anonymous memory, and
 * it reads and writes the one socket it has. An entry is either needed (and harmless to a process without
 * files, network, names or children), or it is refused with an error because a library calls it in passing
 * and can do without. Built once in the zygote; loading it costs microseconds, building it milliseconds.
 */
#include "worker/lockdown.h"

#include "base/fd.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct call_row {
    int nr;
    int eno;         /* 0: allowed; else the error it gets */
    const char *why; /* why needed, and why harmless */
};

static const struct call_row calls[] = {
    {SCMP_SYS(read), 0, "frames from the host; there is no other descriptor"},
    {SCMP_SYS(write), 0, "frames to the host; as above"},
    {SCMP_SYS(writev), 0, "header and payload in one go; as above"},
    {SCMP_SYS(recvfrom), 0, "read on a socket; as above"},
    {SCMP_SYS(sendto), 0, "write on a socket without SIGPIPE; the socket is connected and Unix"},
    {SCMP_SYS(sendmsg), 0, "the same with several parts; there is no descriptor that could be passed on"},
    {SCMP_SYS(poll), 0, "waiting for the socket; reads no memory but its argument"},
    {SCMP_SYS(ppoll), 0, "the same"},
    {SCMP_SYS(munmap), 0, "the allocator gives memory back; only its own address space"},
    {SCMP_SYS(madvise), 0, "the collector gives pages back; only its own address space"},
    {SCMP_SYS(brk), 0, "malloc; bounded by RLIMIT_DATA"},
    {SCMP_SYS(futex), 0, "locks of the engine and libc; no memory is shared with another process"},
    {SCMP_SYS(sched_yield), 0, "spin locks of the allocator"},
    {SCMP_SYS(clock_gettime), 0,
     "time, where the vDSO cannot answer; a program sees the host's clock anyway"},
    {SCMP_SYS(clock_getres), 0, "the same"},
    {SCMP_SYS(gettimeofday), 0, "the same"},
    {SCMP_SYS(getrandom), 0, "seeds of hash tables; reads nothing of ours"},
    {SCMP_SYS(getpid), 0, "abort and assertions; a number"},
    {SCMP_SYS(gettid), 0, "the same"},
    {SCMP_SYS(getrusage), 0, "the engine asks for its own CPU time"},
    {SCMP_SYS(rt_sigreturn), 0, "return from a signal handler; changes only its own registers"},
    {SCMP_SYS(rt_sigprocmask), 0, "abort, and libc around allocations; SIGKILL cannot be blocked"},
    {SCMP_SYS(rt_sigpending), 0,
     "a write that raises no SIGPIPE asks before and after (base/fd.h); its own signals only"},
    {SCMP_SYS(rt_sigtimedwait), 0, "the same; takes the one it raised"},
    {SCMP_SYS(restart_syscall), 0, "the kernel continues an interrupted wait"},
    {SCMP_SYS(exit), 0, "the end"},
    {SCMP_SYS(exit_group), 0, "the end"},
    {SCMP_SYS(openat), ENOENT,
     "ICU and libc look for files that would override what is built in; no file exists for a worker"},
    {SCMP_SYS(open), ENOENT, "the same, older"},
    {SCMP_SYS(newfstatat), ENOENT, "the same, looking only"},
    {SCMP_SYS(stat), ENOENT, "the same, older"},
    {SCMP_SYS(statx), ENOENT, "the same, newer"},
    {SCMP_SYS(access), ENOENT, "the same, asking only"},
    {SCMP_SYS(readlink), ENOENT, "libc looks where /etc/localtime points"},
    {SCMP_SYS(pread64), EBADF,
     "the allocator asks how full the machine is, from a file it opened in the zygote"},
    {SCMP_SYS(rt_sigaction), 0,
     "the engine and abort restore the default before they die; SIGKILL takes no handler"},
    {SCMP_SYS(mremap), ENOSYS,
     "realloc tries it first and copies without it; it could grow executable memory"},
    {SCMP_SYS(tgkill), EPERM, "abort tries it, then traps; no signal is ever sent"},
    {SCMP_SYS(prctl), EPERM,
     "the allocator names its mappings; naming is not needed and the rest of prctl is not wanted"},
};

static bool add_calls(scmp_filter_ctx ctx)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(calls); i++) {
        uint32_t action = calls[i].eno ? SCMP_ACT_ERRNO((uint32_t)calls[i].eno) : SCMP_ACT_ALLOW;
        if (seccomp_rule_add(ctx, action, calls[i].nr, 0) != 0)
            return false;
    }
    /*
     * New memory is anonymous and never executable, and no memory becomes executable: the engine's JIT pool
     * was mapped before the filter, and code that an exploit brings along has nowhere else to go.
     */
    if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                         SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_SHARED, MAP_ANONYMOUS)) != 0)
        return false;
    return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
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
    bool ok = ctx && add_calls(ctx) && export_program(ctx, l);

    seccomp_release(ctx);
    if (!ok)
        errno = ENOSYS;
    return ok;
}
