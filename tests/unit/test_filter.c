/**
 * The system call filter from the other side: programs that mean well (tests/cases/ordinary) run under it,
 * and it allows nothing that none of them needs. Each worker is followed by a tracer, a process of its own,
 * which writes down the calls it makes.
 */
#include "base/fd.h"
#include "base/sanitize.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_run.h"

#define CALLS_MAX 512

/** An entry of the filter, and how it is known to be needed. */
struct entry {
    const char *name;
    long nr;
    enum { BY_A_PROGRAM, BY_A_DEATH, BY_CHANCE, WITHOUT_A_VDSO } needed;
};

/*
 * A death is the engine's own, which calls abort. Whether realloc meets a block that the kernel could move
 * depends on what lies around it. A machine without a usable vDSO asks the kernel for the time.
 */
static const struct entry entries[] = {
    {"recvfrom", SYS_recvfrom, BY_A_PROGRAM},
    {"sendto", SYS_sendto, BY_A_PROGRAM},
    {"mmap", SYS_mmap, BY_A_PROGRAM},
    {"mprotect", SYS_mprotect, BY_A_PROGRAM},
    {"munmap", SYS_munmap, BY_A_PROGRAM},
    {"madvise", SYS_madvise, BY_A_PROGRAM},
    {"brk", SYS_brk, BY_A_PROGRAM},
    {"futex", SYS_futex, BY_A_PROGRAM},
    {"sched_yield", SYS_sched_yield, BY_A_PROGRAM},
    {"clock_gettime", SYS_clock_gettime, WITHOUT_A_VDSO},
    {"gettimeofday", SYS_gettimeofday, WITHOUT_A_VDSO},
    {"getrusage", SYS_getrusage, BY_A_PROGRAM},
    {"getpid", SYS_getpid, BY_A_DEATH},
    {"gettid", SYS_gettid, BY_A_DEATH},
    {"rt_sigprocmask", SYS_rt_sigprocmask, BY_A_PROGRAM},
    {"rt_sigaction", SYS_rt_sigaction, BY_A_PROGRAM},
    {"exit_group", SYS_exit_group, BY_A_DEATH},
    {"write", SYS_write, BY_A_PROGRAM},
    {"pread64", SYS_pread64, BY_A_PROGRAM},
    {"openat", SYS_openat, BY_A_PROGRAM},
    {"newfstatat", SYS_newfstatat, BY_A_PROGRAM},
    {"mremap", SYS_mremap, BY_CHANCE},
    {"tgkill", SYS_tgkill, BY_A_DEATH},
};

static unsigned long counts[CALLS_MAX]; /* of all runs so far */
static bool traced;

#if defined(__x86_64__)
/** The tracer of one worker: says so when it has hold of it, and what it counted when the worker is gone. */
__attribute__((noreturn)) static void be_tracer(pid_t pid, int fd)
{
    unsigned long seen[CALLS_MAX] = {0};
    struct user_regs_struct regs;
    bool entering = true;
    int status = 0;
    bool ok = ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) == 0 &&
              ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
              ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0;

    (void)!write(fd, &ok, sizeof(ok));
    while (ok && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
        int sig = WSTOPSIG(status);
        bool is_call = sig == (SIGTRAP | 0x80);
        if (is_call && entering && ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0 && regs.orig_rax < CALLS_MAX)
            seen[regs.orig_rax]++;
        entering = is_call ? !entering : entering;
        (void)ptrace(PTRACE_SYSCALL, pid, NULL,
                     (void *)(uintptr_t)(is_call || status >> 16 ? 0 : (unsigned)sig));
    }
    (void)!write(fd, seen, sizeof(seen));
    _exit(0);
}
#else
__attribute__((noreturn)) static void be_tracer(pid_t pid, int fd)
{
    bool ok = false;

    (void)pid;
    (void)!write(fd, &ok, sizeof(ok));
    _exit(0);
}
#endif

static pid_t tracer;
static int tracer_fd = -1;

static void follow(struct run *r)
{
    int fds[2];
    bool ok = false;

    if (tracer)
        return; /* the program's own calls */
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    tracer = fork();
    if (tracer == 0)
        be_tracer((pid_t)r->pid, fds[1]);
    cm_fd_close(fds[1]);
    tracer_fd = fds[0];
    assert_int_equal(read(tracer_fd, &ok, sizeof(ok)), sizeof(ok));
    traced = ok;
}

/** After the run and the worker's end: what was counted. */
static void collect(const struct run *r)
{
    unsigned long seen[CALLS_MAX] = {0};

    if (r->pid == 0)
        return; /* it never got as far as a call */
    while (kill((pid_t)r->pid, 0) == 0)
        assert_true(cm_loop_once(r->loop));
    if (traced)
        assert_int_equal(read(tracer_fd, seen, sizeof(seen)), sizeof(seen));
    for (size_t i = 0; i < CALLS_MAX; i++)
        counts[i] += seen[i];
    if (!tracer)
        return;
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    cm_fd_close(tracer_fd);
    tracer = 0;
}

/** False, with the reason printed: it did not end as its file says. */
static bool run_file(struct world *w, const char *dir, const char *name)
{
    static const char key[] = "// expect: ";
    cm_autofree char *path = cm_asprintf("%s/%s", dir, name);
    cm_autofree char *text = NULL;
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    struct run r = {.loop = w->loop, .answer = true, .at_call = CM_SANITIZED ? NULL : follow};

    limits.memory_mb = 512;
    limits.cpu_ms = 60000;
    limits.wall_ms = 600000;
    assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
    const char *expected = strstr(text, key);
    assert_non_null(expected);
    expected += strlen(key);
    cm_autofree char *value = cm_memdup_z(expected, strcspn(expected, "\n"));
    cm_autofree char *source = cm_asprintf("await svc.begin({});\n%s", text);
    start(w->sb, &r, "test", source, &limits);
    finish(&r);
    collect(&r);
    if (r.kind == CM_PASS_COMPLETED && cm_z_eq(r.value, value))
        return true;
    print_error("%s: %s %s %s %s, expected %s\n", name, r.code, r.message, r.value, r.meta, value);
    return false;
}

static unsigned run_files(const struct cm_sandbox_opts *opts)
{
    const char *top = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/ordinary", top ? top : ".");
    struct world w = open_world(opts);
    struct dirent **names = NULL;
    int n = scandir(dir, &names, NULL, alphasort);
    unsigned n_bad = 0;
    unsigned n_files = 0;

    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]->d_name);
        if (len > 3 && cm_z_eq(names[i]->d_name + len - 3, ".js")) {
            n_bad += !run_file(&w, dir, names[i]->d_name);
            n_files++;
        }
        free(names[i]);
    }
    free(names);
    close_world(&w);
    assert_true(n_files > 10);
    return n_bad;
}

/* One run for each worker: it is followed from its first call until it has tidied up behind the program and
 * is replaced. */
static const struct cm_sandbox_opts settings[] = {
    {.pool_size = 1, .runs_per_worker = 1, .isolation = "realm"},
    {.pool_size = 1, .runs_per_worker = 1, .isolation = "vm"},
    {.pool_size = 1, .runs_per_worker = 1, .isolation = "process", .no_jit = true},
};

static void ordinary_programs_run_under_the_filter_in_every_setting(void **state)
{
    (void)state;
    unsigned n_bad = 0;

    for (size_t i = 0; i < CM_ARRAY_LEN(settings); i++)
        n_bad += run_files(&settings[i]);
    assert_int_equal(n_bad, 0);
}

static const struct entry *find_entry(const char *name, size_t len)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(entries); i++) {
        if (cm_str_eq_z(cm_str_mk(name, len), entries[i].name))
            return &entries[i];
    }
    return NULL;
}

static void the_filter_allows_nothing_that_no_program_needs(void **state)
{
    (void)state;
    static const char mark[] = "SCMP_SYS(";
    const char *top = getenv("CM_SOURCE_ROOT");
    unsigned n_bad = 0;

    if (CM_SANITIZED || !traced) {
        print_message("# skipped: %s\n",
                      CM_SANITIZED ? "no filter under sanitizers" : "tracing a worker takes root");
        skip();
    }
    cm_autofree char *path = cm_asprintf("%s/src/worker/filter.c", top ? top : ".");
    cm_autofree char *text = NULL;
    assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
    for (const char *at = strstr(text, mark); at; at = strstr(at, mark)) {
        at += strlen(mark);
        size_t len = strcspn(at, ")");
        const struct entry *e = find_entry(at, len);
        if (!e || (e->needed == BY_A_PROGRAM && counts[e->nr] == 0)) {
            print_error("the filter's entry %.*s: no program needs it\n", (int)len, at);
            n_bad++;
        }
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(entries); i++)
        print_message("# %s: %lu\n", entries[i].name, counts[entries[i].nr]);
    assert_int_equal(n_bad, 0);
}

/** Kilobytes of a process that are executable and come from no file. */
static unsigned long executable_kb(int64_t pid)
{
    char path[64];
    cm_autofree char *text = NULL;
    unsigned long kb = 0;

    (void)snprintf(path, sizeof(path), "/proc/%lld/maps", (long long)pid);
    assert_int_equal(cm_read_file(path, 4u << 20, &text, NULL, NULL), CM_OK);
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        unsigned long from = 0;
        unsigned long to = 0;
        char rights[5] = "";
        bool known = strchr(line, '/') || strstr(line, "[v"); /* files, vdso, vsyscall */
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || known || rights[2] != 'x')
            continue;
        kb += (to - from) >> 10;
    }
    return kb;
}

static void look_for_code(struct run *r)
{
    if (r->n_steps > 0)
        return;
    r->n_steps = 1; /* looked */
    r->outstanding = (uint32_t)executable_kb(r->pid);
}

static unsigned long code_kb(bool no_jit)
{
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1, .no_jit = no_jit});
    struct run r = {.loop = w.loop, .answer = true, .at_call = look_for_code};

    start(w.sb, &r, "test", "let n = 0; for (let i = 0; i < 1e6; i++) n += i; await svc.look({}); return n",
          NULL);
    while (r.n_calls == 0)
        assert_true(cm_loop_once(w.loop));
    unsigned long kb = r.outstanding;
    finish(&r);
    assert_string_equal(r.value, "499999500000");
    close_world(&w);
    return kb;
}

static void only_the_jit_has_executable_memory_of_its_own(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("# skipped: looking at a worker's memory takes root\n");
        skip();
    }
    unsigned long with = code_kb(false);
    unsigned long without = code_kb(true);
    print_message("# executable memory that is no program's: %lu KB, without the JIT %lu KB\n", with,
                  without);
    /* The reservation of process.c, and a page or two of thunks. */
    assert_in_range(with, 1, (32 << 10) + 64);
    assert_int_equal(without, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_programs_run_under_the_filter_in_every_setting),
        cmocka_unit_test(the_filter_allows_nothing_that_no_program_needs),
        cmocka_unit_test(only_the_jit_has_executable_memory_of_its_own),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
