/**
 * Getting out: programs that try it in JavaScript (tests/cases/escape), and what would be left to one that had already taken over
 * its process: system calls, made in a worker's own name by way of ptrace.
 */
#include "base/fd.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

#define NEXT_RUN "// ---- next run\n"

/** ---- programs ---- */

/** The rest of the line "// key: " among the comments at the head of a program, or {NULL, 0}. */
static struct cm_str head_line(const char *program, const char *key)
{
    char mark[32];

    (void)snprintf(mark, sizeof(mark), "// %s: ", key);
    for (const char *line = program; strncmp(line, "//", 2) == 0; line = strchr(line, '\n') + 1) {
        size_t len = strcspn(line, "\n");
        if (strncmp(line, mark, strlen(mark)) == 0)
            return cm_str_mk(line + strlen(mark), len - strlen(mark));
    }
    return (struct cm_str){NULL, 0};
}

static const char *end_name(const struct run *r)
{
    return r->kind == CM_PASS_COMPLETED              ? "completed"
           : r->kind == CM_PASS_THREW && !r->code[0] ? "threw"
                                                     : r->code;
}

/** Whether `name` is one of the names in "a|b|c". */
static bool is_one_of(struct cm_str list, const char *name)
{
    cm_autofree char *z = cm_memdup_z(list.ptr, list.len);
    char *save = NULL;

    for (char *one = strtok_r(z, "|", &save); one; one = strtok_r(NULL, "|", &save)) {
        if (cm_z_eq(one, name))
            return true;
    }
    return false;
}

/** One program of a case; counts what is not as it says. */
static unsigned run_program(struct world *w, const char *name, const char *program)
{
    struct cm_str expected = head_line(program, "expect");
    struct cm_str end = head_line(program, "end");
    struct cm_limits limits = CM_LIMITS_DEFAULT;

    limits.cpu_ms = 300;
    limits.memory_mb = 64;
    limits.deadline_ms = 20000;
    assert_true(expected.ptr || end.ptr);
    struct run r = run(w->loop, w->sb, program, &limits);
    bool ok = expected.ptr ? r.kind == CM_PASS_COMPLETED && cm_str_eq_z(expected, r.value)
                           : is_one_of(end, end_name(&r));
    if (!ok)
        print_error("%s: end '%s' value '%s' meta '%s' message '%s'\n", name, end_name(&r), r.value, r.meta,
                    r.message);
    return !ok;
}

static unsigned run_case(struct world *w, const char *dir, const char *name)
{
    cm_autofree char *path = cm_asprintf("%s/%s", dir, name);
    cm_autofree char *text = NULL;
    unsigned n_bad = 0;

    assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
    for (char *at = text; at;) {
        char *next = strstr(at, NEXT_RUN);
        if (next)
            *next = '\0';
        n_bad += run_program(w, name, at);
        at = next ? next + strlen(NEXT_RUN) : NULL;
    }
    return n_bad;
}

/** Run every file of a folder; returns how many programs were not as they say. */
static unsigned run_cases(struct world *w, const char *dir, unsigned *n_cases)
{
    struct dirent **names = NULL;
    int n = scandir(dir, &names, NULL, alphasort);
    unsigned n_bad = 0;

    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]->d_name);
        if (len > 3 && cm_z_eq(names[i]->d_name + len - 3, ".js")) {
            n_bad += run_case(w, dir, names[i]->d_name);
            ++*n_cases;
        }
        free(names[i]);
    }
    free(names);
    return n_bad;
}

static void no_program_gets_out_for_the_reason_it_states(void **state)
{
    (void)state;
    struct world w = open_world(NULL);
    const char *root = getenv("CM_SOURCE_ROOT");
    unsigned n_cases = 0;
    char dir[4096];

    need_layer(&w, CM_LAYER_MEMORY, "memory limit");
    (void)snprintf(dir, sizeof(dir), "%s/tests/cases/escape", root ? root : ".");
    assert_int_equal(run_cases(&w, dir, &n_cases), 0);
    assert_true(n_cases > 10);
    close_world(&w);
}

/** ---- system calls ---- */

/** A call that an exploit would make, and how it must end: killed by the filter (0), or an error. */
struct attempt {
    const char *what;
    long nr;
    long args[6];
    int eno;
};

#define AT(x) ((long)(x))

static const struct attempt attempts[] = {
    {"ask for its process id", SYS_getpid, {0}, 0},
    {"open a file", SYS_openat, {AT_FDCWD, 0, O_RDONLY}, ENOENT},
    {"look at a file", SYS_newfstatat, {AT_FDCWD, 0, 0, 0}, ENOENT},
    {"read a kept descriptor", SYS_pread64, {0, 0, 0, 0}, EBADF},
    {"grow a mapping", SYS_mremap, {0, 4096, 8192, 1}, ENOSYS},
    {"signal somebody", SYS_tgkill, {1, 1, SIGKILL}, EPERM},
    {"change its dumpable state", SYS_prctl, {4, 1}, -1},
    {"open a socket", SYS_socket, {AF_INET, SOCK_STREAM, 0}, -1},
    {"make a pair of sockets", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, 0}, -1},
    {"connect", SYS_connect, {0, 0, 16}, -1},
    {"receive descriptors", SYS_recvmsg, {0, 0, 0}, -1},
    {"start a program", SYS_execve, {0, 0, 0}, -1},
    {"fork", SYS_clone, {SIGCHLD}, -1},
    {"start a thread", SYS_clone3, {0, 88}, -1},
    {"trace", SYS_ptrace, {PTRACE_TRACEME}, -1},
    {"read another's memory", SYS_process_vm_readv, {1, 0, 1, 0, 1, 0}, -1},
    {"signal", SYS_kill, {-1, SIGKILL}, -1},
    {"map executable memory",
     SYS_mmap,
     {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0},
     -1},
    {"map shared memory", SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0}, -1},
    {"make memory executable", SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}, -1},
    {"make memory executable with a key", SYS_pkey_mprotect, {0, 4096, PROT_EXEC, -1}, -1},
    {"lift a limit", SYS_prlimit64, {0, 0, 0, 0}, -1},
    {"change its user", SYS_setuid, {0}, -1},
    {"make a namespace", SYS_unshare, {CLONE_NEWUSER}, -1},
    {"mount", SYS_mount, {0, 0, 0, 0, 0}, -1},
    {"make a file in memory", SYS_memfd_create, {0, 0}, -1},
    {"duplicate a descriptor", SYS_dup, {0}, -1},
    {"control a descriptor", SYS_ioctl, {0, 0, 0}, -1},
    {"set up io_uring", SYS_io_uring_setup, {1, 0}, -1},
    {"load a BPF program", SYS_bpf, {0, 0, 0}, -1},
    {"handle page faults", SYS_userfaultfd, {0}, -1},
    {"use the kernel's keys", SYS_keyctl, {0}, -1},
    {"measure hardware", SYS_perf_event_open, {0, 0, -1, -1, 0}, -1},
    {"undo the filter", SYS_seccomp, {0, 0, 0}, -1},
    {"use the other ABI's open", 0x40000000 | SYS_open, {0, 0}, -1},
};

#if defined(__x86_64__)
/**
 * Make one system call in a stopped worker and say how it ended: the errno value, 0 for success, -1 when the process was killed by
 * SIGSYS, -2 anything else. The worker waits in read(2), so the instruction before its program counter is `syscall`.
 */
static int call_in(pid_t pid, const struct attempt *a)
{
    struct user_regs_struct regs;
    int status = 0;

    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid ||
        !WIFSTOPPED(status))
        return -2;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        return -2;
    regs.rip -= 2;
    regs.orig_rax = (unsigned long long)-1; /* no restart of the read that was interrupted */
    regs.rax = (unsigned long long)a->nr;
    regs.rdi = (unsigned long long)a->args[0];
    regs.rsi = (unsigned long long)a->args[1];
    regs.rdx = (unsigned long long)a->args[2];
    regs.r10 = (unsigned long long)a->args[3];
    regs.r8 = (unsigned long long)a->args[4];
    regs.r9 = (unsigned long long)a->args[5];
    if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) != 0 || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
        return -2;
    if (waitpid(pid, &status, __WALL) != pid)
        return -2;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGSYS ? -1 : -2;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        return -2;
    long rc = (long)regs.rax;
    /* The parent hears of the end only after the tracer has. */
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, __WALL);
    return rc < 0 && rc > -4096 ? (int)-rc : 0;
}

static void a_worker_that_was_taken_over_has_no_call_to_get_out_by(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 2});
    unsigned n_bad = 0;

    need_layer(&w, CM_LAYER_SECCOMP, "system call filter");
    if (geteuid() != 0) {
        print_message("# skipped: tracing a worker takes root\n");
        close_world(&w);
        skip();
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(attempts); i++) {
        struct run r = {.loop = w.loop};
        start(w.sb, &r, "test", "return svc.wait({})", NULL);
        while (r.n_waits == 0)
            assert_true(cm_loop_once(w.loop));
        int how = call_in((pid_t)cm_pass_pid(r.pass), &attempts[i]);
        if (how != attempts[i].eno) {
            print_error("%s (system call %ld): ended %d, expected %d\n", attempts[i].what, attempts[i].nr,
                        how, attempts[i].eno);
            n_bad++;
        }
        finish(&r);
        assert_int_equal(r.kind, CM_PASS_CRASHED);
    }
    assert_int_equal(n_bad, 0);
    close_world(&w);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_program_gets_out_for_the_reason_it_states),
#if defined(__x86_64__)
        cmocka_unit_test(a_worker_that_was_taken_over_has_no_call_to_get_out_by),
#endif
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
