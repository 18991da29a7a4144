/**
 * Every probe: a name, what it attempts, how it must end under all layers. The numbers are those of the
 * kernel's headers; what this libc does not know yet stands below.
 *
 * PROBE_DIES is the filter's doing. With any other layer gone it still is; with the filter gone another layer
 * must refuse the call, or the row says why nothing is lost (`filter_only`): such calls change the caller's
 * own process, and there is nothing else.
 */
#include "probe.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define P(x)  ((long)(x))
#define HERE  AT_FDCWD
#define BYTES 4096

static const char root[] = "/", name[] = "/tmp/codemode-probe", proc_mem[] = "/proc/self/mem",
                  proc_init[] = "/proc/1/environ", passwd[] = "/etc/passwd", tty[] = "/dev/tty",
                  tmpfs[] = "tmpfs", shell[] = "/bin/sh", key_type[] = "user";
static char buffer[2 * BYTES] __attribute__((aligned(BYTES)));
static const char *const no_words[] = {NULL};
static const struct {
    unsigned long flags, mode, resolve;
} how;
static const struct sockaddr_un own_name = {AF_UNIX, "\0codemode-probe"},
                                system_bus = {AF_UNIX, "/run/systemd/private"};
static const struct {
    unsigned short family, port;
    unsigned char address[12];
} loopback = {AF_INET, 0x1600, {127, 0, 0, 1}};
static const struct timespec past = {1, 0};
static const struct timeval past_tv = {1, 0};
static const struct itimerval alarm_soon = {{1, 0}, {1, 0}};
static const unsigned long many[2] = {256, 256};
static const struct {
    unsigned short len;
    const void *filter;
} no_filter = {0, NULL};
static const int priority = 10;
static struct {
    unsigned version;
    int pid;
} cap_head = {_LINUX_CAPABILITY_VERSION_3, 0};
static unsigned caps_all[6] = {~0U, ~0U, ~0U, ~0U, ~0U, ~0U};
static long timer_id;

/* Why a call that only the filter refuses is no way out. */
static const char
    own[] = "changes the caller's own process, which has no rights that it could use",
    tells[] = "tells what the process knows of itself anyway",
    own_memory[] = "the caller's own memory: what runs there is held like the program before it",
    bounded[] = "made in a namespace that nobody else is in",
    own_socket[] =
        "the host reads bytes and nothing else, and the name is in a namespace that nobody else is in",
    own_children[] = "there is no child and no thread that it could be about",
    zygote_drops[] = "its tracer would be the zygote, which traces nothing; the process only stops itself";

#define ROW(n, what, end, only, call, ...)            \
    {                                                 \
        n, what, end, only, call, {__VA_ARGS__}, NULL \
    }
#define RUN(n, what, end, only, fn)     \
    {                                   \
        n, what, end, only, -1, {0}, fn \
    }

const struct probe cm_probes[] = {
    /* Files. */
    ROW("open", "open a file", PROBE_DIES, NULL, SYS_open, P(passwd), O_RDONLY),
    ROW("openat", "open a file", ENOENT, NULL, SYS_openat, HERE, P(passwd), O_RDONLY),
    ROW("openat-root", "open the root directory", ENOENT, NULL, SYS_openat, HERE, P(root),
        O_RDONLY | O_DIRECTORY),
    ROW("openat2", "open a file, the new way", PROBE_DIES, NULL, SYS_openat2, HERE, P(passwd), P(&how),
        sizeof(how)),
    ROW("creat", "create a file", PROBE_DIES, NULL, SYS_creat, P(name), 0600),
    ROW("openat-tty", "open the terminal", ENOENT, NULL, SYS_openat, HERE, P(tty), O_RDWR),
    ROW("stat", "look at a file", PROBE_DIES, NULL, SYS_stat, P(passwd), P(buffer)),
    ROW("newfstatat", "look at a file", ENOENT, NULL, SYS_newfstatat, HERE, P(passwd), P(buffer), 0),
    ROW("statx", "look at a file, the new way", PROBE_DIES, NULL, SYS_statx, HERE, P(passwd), 0, 0x7ff,
        P(buffer)),
    ROW("access", "ask for rights on a file", PROBE_DIES, NULL, SYS_access, P(passwd), R_OK),
    ROW("readlink", "read a link", PROBE_DIES, NULL, SYS_readlink, P("/proc/self/exe"), P(buffer), BYTES),
    ROW("name_to_handle_at", "get the handle of a file", PROBE_DIES, NULL, SYS_name_to_handle_at, HERE,
        P(passwd), P(buffer), P(buffer + BYTES), 0),
    ROW("open_by_handle_at", "open a file by a guessed handle", PROBE_DIES, NULL, SYS_open_by_handle_at, 0,
        P(buffer), O_RDONLY),
    ROW("unlink", "remove a file", PROBE_DIES, NULL, SYS_unlink, P(passwd)),
    ROW("rename", "rename a file", PROBE_DIES, NULL, SYS_rename, P(passwd), P(name)),
    ROW("link", "link a file", PROBE_DIES, NULL, SYS_link, P(passwd), P(name)),
    ROW("symlink", "make a link", PROBE_DIES, NULL, SYS_symlink, P(passwd), P(name)),
    ROW("mkdir", "make a directory", PROBE_DIES, NULL, SYS_mkdir, P(name), 0700),
    ROW("mknod", "make a device", PROBE_DIES, NULL, SYS_mknod, P(name), 0020600, 0x501),
    ROW("chmod", "change the mode of a file", PROBE_DIES, NULL, SYS_chmod, P(passwd), 0666),
    ROW("chown", "change the owner of a file", PROBE_DIES, NULL, SYS_chown, P(passwd), 0, 0),
    ROW("truncate", "empty a file", PROBE_DIES, NULL, SYS_truncate, P(passwd), 0),
    ROW("chdir-up", "leave the root directory", PROBE_DIES, "the root is its own parent", SYS_chdir, P("..")),
    ROW("inotify", "watch files", PROBE_DIES, NULL, SYS_inotify_init1, 0),
    ROW("fanotify", "watch the machine's files", PROBE_DIES, NULL, SYS_fanotify_init, 0, 0),

    /* Mounts. */
    ROW("mount", "mount a file system", PROBE_DIES, NULL, SYS_mount, P(tmpfs), P(root), P(tmpfs), 0, 0),
    ROW("umount", "unmount the root", PROBE_DIES, NULL, SYS_umount2, P(root), MNT_DETACH),
    ROW("fsopen", "mount, the new way", PROBE_DIES, NULL, SYS_fsopen, P(tmpfs), 0),
    ROW("open_tree", "copy a mount", PROBE_DIES, NULL, SYS_open_tree, HERE, P(root), 1),
    ROW("move_mount", "move a mount", PROBE_DIES, NULL, SYS_move_mount, 0, P(""), HERE, P(root), 4),
    ROW("chroot", "change the root", PROBE_DIES, NULL, SYS_chroot, P(root)),
    ROW("pivot_root", "exchange the root", PROBE_DIES, NULL, SYS_pivot_root, P("."), P(".")),

    /* Sockets. */
    ROW("socket-inet", "open an internet socket", PROBE_DIES, NULL, SYS_socket, AF_INET, SOCK_STREAM, 0),
    ROW("socket-inet6", "open an internet socket, version 6", PROBE_DIES, NULL, SYS_socket, AF_INET6,
        SOCK_DGRAM, 0),
    ROW("socket-unix", "open a Unix socket", PROBE_DIES, NULL, SYS_socket, AF_UNIX, SOCK_STREAM, 0),
    ROW("socket-netlink", "talk to the kernel's network", PROBE_DIES, NULL, SYS_socket, AF_NETLINK, SOCK_RAW,
        0),
    ROW("socket-packet", "listen on the wire", PROBE_DIES, NULL, SYS_socket, AF_PACKET, SOCK_RAW, 0),
    ROW("socket-vsock", "talk to the machine's host", PROBE_DIES, NULL, SYS_socket, AF_VSOCK, SOCK_STREAM, 0),
    ROW("socket-alg", "use the kernel's ciphers", PROBE_DIES, NULL, SYS_socket, 38, SOCK_SEQPACKET, 0),
    ROW("socketpair", "make a pair of sockets", PROBE_DIES, NULL, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0,
        P(buffer)),
    ROW("connect-inet", "connect the own socket to the network", PROBE_DIES, NULL, SYS_connect, 0,
        P(&loopback), 16),
    ROW("connect-unix", "connect the own socket to a service", PROBE_DIES, NULL, SYS_connect, 0,
        P(&system_bus), sizeof(system_bus)),
    ROW("bind", "give the own socket a name", PROBE_DIES, own_socket, SYS_bind, 0, P(&own_name),
        sizeof(own_name)),
    ROW("listen", "listen on the own socket", PROBE_DIES, NULL, SYS_listen, 0, 8),
    ROW("accept", "accept on the own socket", PROBE_DIES, NULL, SYS_accept4, 0, 0, 0, 0),
    ROW("sendto-address", "send to another address", PROBE_DIES, NULL, SYS_sendto, 0, P(buffer), 1, 0,
        P(&own_name), sizeof(own_name)),
    ROW("send-oob", "send out of band", PROBE_DIES, own_socket, SYS_sendto, 0, P(buffer), 1, MSG_OOB, 0, 0),
    ROW("send-zerocopy", "send memory itself", PROBE_DIES, own_socket, SYS_sendto, 0, P(buffer), 1,
        MSG_ZEROCOPY, 0, 0),
    ROW("setsockopt", "change the own socket", PROBE_DIES, NULL, SYS_setsockopt, 0, SOL_SOCKET, SO_PRIORITY,
        P(&priority), 4),
    ROW("getsockname", "ask for the own socket's name", PROBE_DIES, tells, SYS_getsockname, 0, P(buffer),
        P(&timer_id)),
    RUN("send-descriptor", "pass a descriptor to the host", PROBE_DIES, own_socket, cm_probe_send_fd),
    RUN("receive-descriptor", "ask the host for a descriptor", PROBE_DIES, NULL, cm_probe_receive_fd),

    /* Descriptors. */
    ROW("dup", "duplicate a descriptor", PROBE_DIES, NULL, SYS_dup, 0),
    ROW("dup2", "duplicate to a number", PROBE_DIES, NULL, SYS_dup2, 0, 9),
    ROW("fcntl", "duplicate by fcntl", PROBE_DIES, NULL, SYS_fcntl, 0, F_DUPFD, 0),
    ROW("pipe", "make a pipe", PROBE_DIES, NULL, SYS_pipe2, P(buffer), 0),
    ROW("eventfd", "make an event descriptor", PROBE_DIES, NULL, SYS_eventfd2, 0, 0),
    ROW("epoll", "make an event queue", PROBE_DIES, NULL, SYS_epoll_create1, 0),
    ROW("signalfd", "read signals", PROBE_DIES, NULL, SYS_signalfd4, -1, P(buffer), 8, 0),
    ROW("timerfd", "make a timer descriptor", PROBE_DIES, NULL, SYS_timerfd_create, CLOCK_MONOTONIC, 0),
    ROW("memfd", "make a file in memory", PROBE_DIES, NULL, SYS_memfd_create, P("x"), 0),
    ROW("memfd_secret", "make secret memory", PROBE_DIES, NULL, 447, 0),
    ROW("read-other", "read another descriptor", EBADF, NULL, SYS_pread64, 3, P(buffer), 1, 0),
    ROW("read-kept", "read a descriptor that was forgotten", PROBE_DIES, NULL, SYS_read, 3, P(buffer), 1),
    ROW("recv-kept", "receive by a descriptor that was forgotten", PROBE_DIES, NULL, SYS_recvfrom, 3,
        P(buffer), 1),
    ROW("recv-peek", "look at what comes without taking it", PROBE_DIES, NULL, SYS_recvfrom, 0, P(buffer), 1,
        MSG_PEEK | MSG_DONTWAIT),
    ROW("recv-oob", "receive beside the stream", PROBE_DIES, NULL, SYS_recvfrom, 0, P(buffer), 1,
        MSG_OOB | MSG_DONTWAIT),
    ROW("write-stderr", "write to the standard error", EBADF, NULL, SYS_write, 2, P("x"), 1),
    ROW("ioctl-tty", "type into the terminal", PROBE_DIES, NULL, SYS_ioctl, 0, TIOCSTI, P("x")),
    ROW("ioctl-net", "ask for network interfaces", PROBE_DIES, NULL, SYS_ioctl, 0, 0x8914 /* SIOCSIFFLAGS */,
        P(buffer)),
    ROW("sendfile", "copy between descriptors", PROBE_DIES, NULL, SYS_sendfile, 0, 3, 0, 1),
    RUN("dup-many", "use up the descriptors by duplicates", PROBE_DIES, NULL, cm_probe_dup_many),
    RUN("open-many", "use up the descriptors by files", ENOENT, NULL, cm_probe_open_many),
    RUN("socket-many", "use up the descriptors by sockets", PROBE_DIES, NULL, cm_probe_socket_many),

    /* Processes. */
    RUN("fork", "start a process", PROBE_DIES, NULL, cm_probe_fork),
    RUN("vfork", "start a process in the same memory", PROBE_DIES, NULL, cm_probe_vfork),
    RUN("thread", "start a thread", PROBE_DIES, NULL, cm_probe_thread),
    RUN("clone3", "start a process, the new way", PROBE_DIES, NULL, cm_probe_clone3),
    RUN("fork-bomb", "use up the process ids", PROBE_DIES, NULL, cm_probe_fork_bomb),
    ROW("execve", "start a program", PROBE_DIES, NULL, SYS_execve, P(shell), P(no_words), P(no_words)),
    ROW("execveat", "start a program by descriptor", PROBE_DIES, NULL, SYS_execveat, 0, P(""), P(no_words),
        P(no_words), 0x1000),
    RUN("memfd-exec", "start a program from memory", PROBE_DIES, NULL, cm_probe_memfd_exec),
    ROW("wait4", "wait for a child", PROBE_DIES, NULL, SYS_wait4, -1, 0, 1 /* WNOHANG */, 0),

    /* Signals. */
    ROW("kill-host", "signal the host", PROBE_DIES, NULL, SYS_kill, PROBE_HOST, SIGKILL),
    ROW("kill-zygote", "signal the zygote", PROBE_DIES, NULL, SYS_kill, PROBE_ZYGOTE, SIGKILL),
    ROW("kill-sibling", "signal another worker", PROBE_DIES, NULL, SYS_kill, PROBE_SIBLING, SIGKILL),
    ROW("kill-all", "signal everybody", PROBE_DIES, NULL, SYS_kill, -1, SIGKILL),
    ROW("tgkill-host", "signal a thread of the host", EPERM, NULL, SYS_tgkill, PROBE_HOST, PROBE_HOST,
        SIGKILL),
    ROW("tkill-sibling", "signal a thread of another worker", PROBE_DIES, NULL, SYS_tkill, PROBE_SIBLING,
        SIGKILL),
    RUN("queue-signal", "queue a signal for the zygote", PROBE_DIES, NULL, cm_probe_queue_signal),
    ROW("pidfd_open-sibling", "get hold of another worker", PROBE_DIES, NULL, SYS_pidfd_open, PROBE_SIBLING,
        0),
    ROW("pidfd_send_signal", "signal by descriptor", PROBE_DIES, NULL, SYS_pidfd_send_signal, 3, SIGKILL, 0,
        0),
    ROW("pidfd_getfd", "take a descriptor of another process", PROBE_DIES, NULL, SYS_pidfd_getfd, 3, 0, 0),
    ROW("setpgid", "join another process group", PROBE_DIES, NULL, SYS_setpgid, 0, PROBE_ZYGOTE),
    RUN("sigreturn", "load registers from a forged signal frame", PROBE_DIES, own, cm_probe_sigreturn),

    /* /proc. */
    ROW("proc-mem", "write the own memory past its protection", ENOENT, NULL, SYS_openat, HERE, P(proc_mem),
        O_RDWR),
    ROW("proc-environ", "read the environment of the first process", ENOENT, NULL, SYS_openat, HERE,
        P(proc_init), O_RDONLY),
    RUN("proc-host", "write the memory of the host", ENOENT, NULL, cm_probe_proc_host),

    /* Shared memory, queues and keys. */
    ROW("shmget", "make System V shared memory", PROBE_DIES, bounded, SYS_shmget, IPC_PRIVATE, BYTES,
        IPC_CREAT | 0600),
    ROW("shmat", "attach memory of others", PROBE_DIES, NULL, SYS_shmat, 0, 0, 0),
    ROW("msgget", "make a System V queue", PROBE_DIES, bounded, SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0600),
    ROW("semget", "make System V semaphores", PROBE_DIES, bounded, SYS_semget, IPC_PRIVATE, 1,
        IPC_CREAT | 0600),
    ROW("mq_open", "make a POSIX queue", PROBE_DIES, NULL, SYS_mq_open, P("probe"), O_CREAT | O_RDWR, 0600,
        0),
    ROW("mmap-shared", "map shared memory", PROBE_DIES, own_memory, SYS_mmap, 0, BYTES,
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
    ROW("mmap-file", "map a descriptor", PROBE_DIES, NULL, SYS_mmap, 0, BYTES, PROT_READ, MAP_PRIVATE, 0, 0),
    ROW("add_key", "add to a keyring", PROBE_DIES,
        "a key of the user id that the workers of one zygote have, and nobody else", SYS_add_key, P(key_type),
        P("probe"), P("x"), 1, -2),
    ROW("request_key", "ask for a key", PROBE_DIES, NULL, SYS_request_key, P(key_type), P("probe"), 0, -2),
    ROW("keyctl", "look at the user's keys", PROBE_DIES,
        "the keys of the user id that the workers of one zygote have, and nobody else", SYS_keyctl, 0, -4, 1),

    /* Other processes' memory. */
    ROW("ptrace-me", "be traced", PROBE_DIES, zygote_drops, SYS_ptrace, PTRACE_TRACEME),
    ROW("ptrace-host", "trace the host", PROBE_DIES, NULL, SYS_ptrace, PTRACE_ATTACH, PROBE_HOST, 0, 0),
    ROW("ptrace-sibling", "trace another worker", PROBE_DIES, NULL, SYS_ptrace, PTRACE_SEIZE, PROBE_SIBLING,
        0, 0),
    RUN("process_vm_readv", "read another worker's memory", PROBE_DIES, NULL, cm_probe_read_sibling),
    RUN("process_vm_writev", "write the host's memory", PROBE_DIES, NULL, cm_probe_write_host),
    ROW("kcmp", "compare with another process", PROBE_DIES, NULL, SYS_kcmp, PROBE_HOST, PROBE_ZYGOTE, 0, 0,
        0),
    ROW("process_madvise", "advise on another's memory", PROBE_DIES, NULL, SYS_process_madvise, 3, P(buffer),
        1, 4, 0),

    /* Namespaces, users and capabilities. */
    ROW("unshare-user", "make a user namespace", PROBE_DIES, NULL, SYS_unshare, CLONE_NEWUSER),
    ROW("unshare-mount", "make a mount namespace", PROBE_DIES, NULL, SYS_unshare, CLONE_NEWNS),
    ROW("unshare-net", "make a network namespace", PROBE_DIES, NULL, SYS_unshare, CLONE_NEWNET),
    ROW("setns", "enter another namespace", PROBE_DIES, NULL, SYS_setns, 0, 0),
    ROW("setuid", "become root", PROBE_DIES, NULL, SYS_setuid, 0),
    ROW("setresgid", "become root's group", PROBE_DIES, NULL, SYS_setresgid, 0, 0, 0),
    ROW("setgroups", "join a group", PROBE_DIES, NULL, SYS_setgroups, 1, P(buffer)),
    ROW("capset", "take every capability", PROBE_DIES, NULL, SYS_capset, P(&cap_head), P(caps_all)),

    /* The kernel's larger doors. */
    ROW("bpf", "load a BPF program", PROBE_DIES, NULL, SYS_bpf, 5, P(buffer), 72),
    ROW("perf_event_open", "measure the machine", PROBE_DIES, NULL, SYS_perf_event_open, P(buffer), -1, 0, -1,
        0),
    ROW("userfaultfd", "handle page faults", PROBE_DIES, NULL, SYS_userfaultfd, 1),
    ROW("io_uring_setup", "make calls by a ring", PROBE_DIES, NULL, SYS_io_uring_setup, 8, P(buffer)),
    ROW("io_setup", "make calls by an asynchronous context", PROBE_DIES, own, SYS_io_setup, 1, P(&timer_id)),
    ROW("kexec", "load another kernel", PROBE_DIES, NULL, SYS_kexec_load, 0, 0, 0, 0),
    ROW("init_module", "load a module", PROBE_DIES, NULL, SYS_init_module, P(buffer), BYTES, P("")),
    ROW("finit_module", "load a module by descriptor", PROBE_DIES, NULL, SYS_finit_module, 0, P(""), 0),
    ROW("delete_module", "unload a module", PROBE_DIES, NULL, SYS_delete_module, P("probe"), 0),
    ROW("reboot", "restart the machine", PROBE_DIES, NULL, SYS_reboot, 0xfee1dead, 672274793, 0, 0),
    ROW("swapon", "add swap", PROBE_DIES, NULL, SYS_swapon, P(name), 0),
    ROW("acct", "record processes", PROBE_DIES, NULL, SYS_acct, P(name)),
    ROW("quotactl", "change quotas", PROBE_DIES, NULL, SYS_quotactl, 0x800002, P(name), 0, P(buffer)),
    ROW("syslog", "read the kernel's log", PROBE_DIES, NULL, SYS_syslog, 3, P(buffer), 64),
    ROW("sethostname", "rename the machine", PROBE_DIES, NULL, SYS_sethostname, P("probe"), 5),
    ROW("settimeofday", "set the clock", PROBE_DIES, NULL, SYS_settimeofday, P(&past_tv), 0),
    ROW("clock_settime", "set the clock", PROBE_DIES, NULL, SYS_clock_settime, CLOCK_REALTIME, P(&past)),
    RUN("clock-of-host", "read the CPU clock of the host", PROBE_DIES, NULL, cm_probe_clock_of_host),
    ROW("iopl", "use the machine's ports", PROBE_DIES, NULL, SYS_iopl, 3),
    ROW("ioperm", "use one of the machine's ports", PROBE_DIES, NULL, SYS_ioperm, 0x80, 1, 1),
    ROW("landlock", "make a rule set", PROBE_DIES, NULL, 444, P(&how), 8, 0),

    /* The own process. */
    ROW("personality", "make all memory executable", PROBE_DIES, own, SYS_personality, 0x0400000),
    ROW("modify_ldt", "make a segment", PROBE_DIES, own, SYS_modify_ldt, 0, P(buffer), 64),
    ROW("arch_prctl", "move the thread's base", PROBE_DIES, own, SYS_arch_prctl, 0x1004, P(buffer)),
    ROW("mmap-exec", "map executable memory", PROBE_DIES, own_memory, SYS_mmap, 0, BYTES,
        PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
    ROW("mprotect-exec", "make memory executable", PROBE_DIES, own_memory, SYS_mprotect, P(buffer), BYTES,
        PROT_READ | PROT_EXEC),
    ROW("pkey_mprotect-exec", "make memory executable with a key", PROBE_DIES, own_memory, SYS_pkey_mprotect,
        P(buffer), BYTES, PROT_READ | PROT_EXEC, -1),
    ROW("mremap-exec", "grow a mapping", ENOSYS, own_memory, SYS_mremap, P(buffer), BYTES, 2 * BYTES,
        MREMAP_MAYMOVE, 0),
    ROW("shadow-stack", "map a shadow stack", PROBE_DIES, own_memory, 453, 0, BYTES, 0),
    ROW("mlock", "pin memory", PROBE_DIES, NULL, SYS_mlock, P(buffer), BYTES),
    ROW("madvise-merge", "have equal pages merged with those of others", PROBE_DIES,
        "tells by its timing whether another process has an equal page, where the machine merges pages at "
        "all",
        SYS_madvise, P(buffer), BYTES, MADV_MERGEABLE),
    ROW("futex-pi", "wait with priority inheritance", PROBE_DIES, own_memory, SYS_futex, P(buffer),
        13 /* LOCK_PI2 */, 0, 0, 0, 0),
    RUN("run-data", "run code in data", PROBE_CRASHES, NULL, cm_probe_run_data),
    ROW("prctl-dumpable", "open the memory to tracers", PROBE_DIES, own, SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0,
        0),
    ROW("prctl-new-privs", "allow new privileges again", PROBE_DIES, NULL, SYS_prctl, PR_SET_NO_NEW_PRIVS, 0,
        0, 0, 0),
    ROW("prctl-seccomp", "leave the filter", PROBE_DIES, NULL, SYS_prctl, PR_SET_SECCOMP, 0, 0, 0, 0),
    ROW("prctl-ptracer", "name a tracer", PROBE_DIES, NULL, SYS_prctl, 0x59616d61, -1, 0, 0, 0),
    ROW("prctl-orphan", "outlive the zygote", PROBE_DIES, own, SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0),
    ROW("seccomp", "add a filter of one's own", PROBE_DIES, NULL, SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
        P(&no_filter)),
    RUN("setrlimit", "have more descriptors", PROBE_DIES, NULL, cm_probe_lift_limits),
    ROW("prlimit-self", "have more processes", PROBE_DIES, NULL, SYS_prlimit64, 0, RLIMIT_NPROC, P(many), 0),
    ROW("prlimit-host", "change the limits of the host", PROBE_DIES, NULL, SYS_prlimit64, PROBE_HOST,
        RLIMIT_NOFILE, P(many), 0),
    ROW("sched_setscheduler", "run before others", PROBE_DIES, NULL, SYS_sched_setscheduler, 0, 1 /* FIFO */,
        P(&priority)),
    ROW("sched_setaffinity", "choose a processor", PROBE_DIES, own, SYS_sched_setaffinity, 0, 8, P(caps_all)),
    ROW("setpriority", "run more often", PROBE_DIES, NULL, SYS_setpriority, 0, 0, -20),
    ROW("ioprio_set", "read and write before others", PROBE_DIES, NULL, SYS_ioprio_set, 1, 0, 1 << 13),
    ROW("setitimer", "have an alarm", PROBE_DIES, own, SYS_setitimer, ITIMER_REAL, P(&alarm_soon), 0),
    ROW("timer_create", "have a timer", PROBE_DIES, own, SYS_timer_create, CLOCK_MONOTONIC, 0, P(&timer_id)),
    ROW("nanosleep", "sleep", PROBE_DIES, own, SYS_nanosleep, P(&((const struct timespec){0, 1})), 0),
    ROW("rseq", "restart sequences", PROBE_DIES, NULL, SYS_rseq, P(buffer), 32, 1, 0),
    ROW("membarrier", "interrupt other processors", PROBE_DIES, own_children, SYS_membarrier, 1 /* GLOBAL */,
        0, 0),
    ROW("uname", "ask for the machine's name", PROBE_DIES, tells, SYS_uname, P(buffer)),
    ROW("sysinfo", "ask how full the machine is", PROBE_DIES,
        "tells how full the machine is, and nothing of anyone", SYS_sysinfo, P(buffer)),
    ROW("getrusage-children", "ask for the use of children", PROBE_DIES, own_children, SYS_getrusage,
        RUSAGE_CHILDREN, P(buffer)),

    /* Other ways into the kernel. */
    RUN("socket-32-bit", "open a socket by the 32-bit entry", PROBE_CRASHES, NULL, cm_probe_socket_32),
    RUN("fork-32-bit", "start a process by the 32-bit entry", PROBE_CRASHES, NULL, cm_probe_fork_32),
    ROW("open-x32", "open a file by the x32 entry", PROBE_DIES, NULL, 0x40000000 | SYS_open, P(passwd),
        O_RDONLY),
    ROW("socket-x32", "open a socket by the x32 entry", PROBE_DIES, NULL, 0x40000000 | SYS_socket, AF_UNIX,
        SOCK_STREAM, 0),
    ROW("no-such-call", "make a call that no kernel has", PROBE_DIES, NULL, 4000, 0),

    /* What the host watches over. */
    RUN("fill-memory", "use the machine's memory", ENOMEM, NULL, cm_probe_fill_memory),
    RUN("spin", "use the machine's time", PROBE_LIMIT, NULL, cm_probe_spin),
    RUN("spin-deaf", "use the machine's time, deaf to signals", PROBE_LIMIT, NULL, cm_probe_spin_deaf),
    RUN("frame-of-host", "forge a frame of the host", PROBE_BREAKS, NULL, cm_probe_host_frame),
    RUN("frame-huge", "announce four gigabytes", PROBE_LIMIT, NULL, cm_probe_huge_frame),
    RUN("frame-again", "be born again", PROBE_BREAKS, NULL, cm_probe_ready_twice),
};

const size_t cm_n_probes = CM_ARRAY_LEN(cm_probes);
