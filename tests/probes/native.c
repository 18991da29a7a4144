/** Probes that take more than one system call, or another way into the kernel than the usual one. */
#include "probe.h"

#include "base/limits.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define TRIES     64
#define PAGE      4096
#define MANY_MB   2048
#define P(x)      ((long)(uintptr_t)(x))
#define CALL0(nr) cm_probe_call(nr, 0, 0, 0, 0, 0, 0)

#if defined(__x86_64__)
__attribute__((noinline)) long cm_probe_call(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long rc;

    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return rc;
}

/** The 32-bit way in. A kernel without it answers with a fault. */
static long call_32(long nr, long a, long b, long c)
{
    long rc;

    __asm__ volatile("int $0x80"
                     : "=a"(rc)
                     : "a"(nr), "b"(a), "c"(b), "d"(c)
                     : "r8", "r9", "r10", "r11", "memory");
    return (int)rc;
}
#else
long cm_probe_call(long nr, long a, long b, long c, long d, long e, long f)
{
    long rc = syscall(nr, a, b, c, d, e, f);

    return rc < 0 ? -errno : rc;
}

/** No other way in: what the filter would have to answer to such a call. */
static long call_32(long nr, long a, long b, long c)
{
    (void)nr, (void)a, (void)b, (void)c;
    return cm_probe_call(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0, 0);
}
#endif

static long child_or(long pid)
{
    if (pid == 0)
        (void)cm_probe_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    return pid;
}

long cm_probe_fork(const struct probe_targets *t)
{
    (void)t;
    return child_or(cm_probe_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0));
}

static char child_stack[16 * PAGE] __attribute__((aligned(16)));

/** As vfork: shared memory, and the parent waits. On a stack of its own, which has nothing to return to. */
long cm_probe_vfork(const struct probe_targets *t)
{
    (void)t;
    return cm_probe_call(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD,
                         P(child_stack + sizeof(child_stack) / 2), 0, 0, 0, 0);
}

long cm_probe_thread(const struct probe_targets *t)
{
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

    (void)t;
    return cm_probe_call(SYS_clone, flags, P(child_stack + sizeof(child_stack) / 2), 0, 0, 0, 0);
}

long cm_probe_clone3(const struct probe_targets *t)
{
    struct clone_args args = {.exit_signal = SIGCHLD};

    (void)t;
    return child_or(cm_probe_call(SYS_clone3, P(&args), sizeof(args), 0, 0, 0, 0));
}

long cm_probe_fork_bomb(const struct probe_targets *t)
{
    long rc = 0;
    long n = 0;

    (void)t;
    for (int i = 0; i < TRIES && rc >= 0; i++) {
        rc = child_or(cm_probe_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0));
        n += rc >= 0;
    }
    return n ? n : rc;
}

long cm_probe_memfd_exec(const struct probe_targets *t)
{
    static char *const empty[] = {NULL};
    long fd = cm_probe_call(SYS_memfd_create, P("x"), 0, 0, 0, 0, 0);

    (void)t;
    return fd < 0 ? fd
                  : cm_probe_call(SYS_execveat, fd, P(""), P(empty), P(empty), 0x1000 /* AT_EMPTY_PATH */, 0);
}

/** The first one that there is room for is one too many. */
static long until_full(long nr, long a, long b, long c)
{
    long rc = 0;
    long n = 0;

    for (int i = 0; i < TRIES && rc >= 0; i++) {
        rc = cm_probe_call(nr, a, b, c, 0, 0, 0);
        n += rc >= 0;
    }
    return n ? n : rc;
}

long cm_probe_dup_many(const struct probe_targets *t)
{
    (void)t;
    return until_full(SYS_dup, 0, 0, 0);
}

long cm_probe_open_many(const struct probe_targets *t)
{
    (void)t;
    return until_full(SYS_openat, -100 /* AT_FDCWD */, P("/"), 0);
}

long cm_probe_socket_many(const struct probe_targets *t)
{
    (void)t;
    return until_full(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/** Our own socket as the present, with a frame that the host reads and goes on: a line of the log. */
long cm_probe_send_fd(const struct probe_targets *t)
{
    static const struct cm_str line[] = {{"\0", 1}, CM_STR("a present")};
    cm_autobuf out = CM_BUF_INIT(256);
    union control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};

    (void)t;
    cm_wire_encode(&out, CM_FRAME_LOG, 0, 0, line, CM_ARRAY_LEN(line));
    struct iovec part = {out.ptr, out.len};
    struct msghdr msg = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    return cm_probe_call(SYS_sendmsg, 0, P(&msg), MSG_NOSIGNAL, 0, 0, 0);
}

long cm_probe_receive_fd(const struct probe_targets *t)
{
    static char byte;
    static union control control;
    static struct iovec part = {&byte, 1};
    struct msghdr msg = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

    (void)t;
    return cm_probe_call(SYS_recvmsg, 0, P(&msg), MSG_DONTWAIT, 0, 0, 0);
}

long cm_probe_read_sibling(const struct probe_targets *t)
{
    static char here[16];
    struct iovec local = {here, sizeof(here)};
    struct iovec remote = {child_stack, sizeof(here)}; /* forked from one zygote: the same addresses */

    return cm_probe_call(SYS_process_vm_readv, t->sibling, P(&local), 1, P(&remote), 1, 0);
}

long cm_probe_write_host(const struct probe_targets *t)
{
    static char here[16];
    struct iovec local = {here, sizeof(here)};
    struct iovec remote = {child_stack, sizeof(here)};

    return cm_probe_call(SYS_process_vm_writev, t->host, P(&local), 1, P(&remote), 1, 0);
}

/** Memory far beyond the limit: first asked for, which the kernel refuses, then used, which the host sees. */
long cm_probe_fill_memory(const struct probe_targets *t)
{
    static long parts[MANY_MB];

    (void)t;
    for (long mb = 0; mb < MANY_MB; mb++) {
        parts[mb] =
            cm_probe_call(SYS_mmap, 0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (parts[mb] < 0 && parts[mb] > -PAGE)
            return parts[mb];
    }
    for (long mb = 0; mb < MANY_MB; mb++) {
        for (long i = 0; i < 1 << 20; i += PAGE)
            ((volatile char *)(uintptr_t)parts[mb])[i] = 1;
    }
    return MANY_MB;
}

__attribute__((noreturn)) static void spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

long cm_probe_spin(const struct probe_targets *t)
{
    (void)t;
    spin();
}

/** With every signal that can be blocked blocked. */
long cm_probe_spin_deaf(const struct probe_targets *t)
{
    unsigned long all = ~0UL;

    (void)t;
    (void)cm_probe_call(SYS_rt_sigprocmask, SIG_SETMASK, P(&all), 0, sizeof(all), 0, 0);
    spin();
}

long cm_probe_socket_32(const struct probe_targets *t)
{
    (void)t;
    return call_32(359, AF_UNIX, SOCK_STREAM, 0);
}

long cm_probe_fork_32(const struct probe_targets *t)
{
    (void)t;
    return child_or(call_32(2, 0, 0, 0));
}

/** Clocks of processes are numbers made of process ids. */
long cm_probe_clock_of_host(const struct probe_targets *t)
{
    struct timespec now;

    return cm_probe_call(SYS_clock_gettime, (long)((~(unsigned long)t->host << 3) | 2), P(&now), 0, 0, 0, 0);
}

/** Code in data: without a call that makes it executable, what remains is to jump there. */
long cm_probe_run_data(const struct probe_targets *t)
{
    static unsigned char code[] = {0xc3}; /* x86: ret; elsewhere no instruction */
    void (*run)(void);
    void *at = code;

    (void)t;
    memcpy(&run, &at, sizeof(run));
    run();
    return 0;
}

/** A frame of registers of one's own choosing: the kernel's own gadget. */
long cm_probe_sigreturn(const struct probe_targets *t)
{
    (void)t;
    return CALL0(SYS_rt_sigreturn);
}

static long send_bytes(const char *p, size_t n)
{
    long rc = cm_probe_call(SYS_sendto, 0, P(p), (long)n, MSG_NOSIGNAL, 0, 0);

    /* What follows is the host's business: it ends us, or we go on as if nothing had been. */
    for (char byte; rc >= 0 && cm_probe_call(SYS_recvfrom, 0, P(&byte), 1, 0, 0, 0) > 0;)
        ;
    return rc < 0 ? rc : 0;
}

long cm_probe_host_frame(const struct probe_targets *t)
{
    const char frame[CM_WIRE_HEADER_BYTES] = {0, 0, 0, 0, CM_FRAME_OUTCOME};

    (void)t;
    return send_bytes(frame, sizeof(frame));
}

long cm_probe_huge_frame(const struct probe_targets *t)
{
    const char frame[CM_WIRE_HEADER_BYTES] = {(char)0xff, (char)0xff, (char)0xff, (char)0xff,
                                              (char)CM_FRAME_LOG};

    (void)t;
    return send_bytes(frame, sizeof(frame));
}

long cm_probe_ready_twice(const struct probe_targets *t)
{
    cm_autobuf out = CM_BUF_INIT(256);
    const struct cm_str version = CM_STR(CM_WIRE_VERSION);

    (void)t;
    cm_wire_encode(&out, CM_FRAME_HELLO, 0, 0, &version, 1);
    return send_bytes(out.ptr, out.len);
}

long cm_probe_proc_host(const struct probe_targets *t)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%ld/mem", t->host);
    return cm_probe_call(SYS_openat, -100, P(path), 2 /* O_RDWR */, 0, 0, 0);
}

long cm_probe_queue_signal(const struct probe_targets *t)
{
    siginfo_t info = {.si_code = SI_QUEUE};

    return cm_probe_call(SYS_rt_sigqueueinfo, t->zygote, SIGTERM, P(&info), 0, 0, 0);
}

long cm_probe_lift_limits(const struct probe_targets *t)
{
    const struct rlimit more = {256, 256};

    (void)t;
    return cm_probe_call(SYS_setrlimit, RLIMIT_NOFILE, P(&more), 0, 0, 0, 0);
}
