/**
 * codemode-worker: the zygote. Started by the host with an empty environment and the control socket as its
 * only descriptor beside the standard three (wire/control.h), before any secret is read; it checks both and
 * trusts neither.
 */
#include "worker/zygote.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/processors.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_KB_MAX 65536u

struct option_row {
    const char *name;
    size_t offset; /* of the bool in struct options */
    const char *help;
};

struct options {
    bool no_jit;
    bool vm_per_worker;
    bool vm_per_pass;
    bool one_shot;
    uint32_t stack_kb;
};

static const struct option_row option_rows[] = {
    {"--no-jit", offsetof(struct options, no_jit), "interpret only"},
    {"--vm-per-worker", offsetof(struct options, vm_per_worker),
     "create the VM in each worker instead of before the fork"},
    {"--vm-per-pass", offsetof(struct options, vm_per_pass), "a VM of its own for each pass"},
    {"--one-shot", offsetof(struct options, one_shot), "one pass is to run: prepare nothing for a second"},
};

static bool parse_stack(const char *arg, struct options *out)
{
    static const char name[] = "--stack-kb=";

    return strncmp(arg, name, strlen(name)) == 0 &&
           cm_parse_u32(cm_str_of(arg + strlen(name)), &out->stack_kb, NULL) == CM_OK &&
           out->stack_kb <= STACK_KB_MAX;
}

static bool parse_options(int argc, char **argv, struct options *out)
{
    for (int i = 1; i < argc; i++) {
        bool known = parse_stack(argv[i], out);
        for (size_t k = 0; k < CM_ARRAY_LEN(option_rows); k++) {
            if (cm_z_eq(argv[i], option_rows[k].name)) {
                *(bool *)((char *)out + option_rows[k].offset) = true;
                known = true;
            }
        }
        if (!known) {
            (void)fprintf(stderr, "codemode-worker: unknown option '%s'\n", argv[i]);
            return false;
        }
    }
    return true;
}

static bool is_control_socket(int fd)
{
    int domain = 0;
    int type = 0;
    socklen_t len = sizeof(int);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && domain == AF_UNIX &&
           type == SOCK_SEQPACKET;
}

static int usage(void)
{
    (void)fprintf(stderr,
                  "codemode-worker is started by codemode, with a control socket as descriptor %d; it does "
                  "nothing else.\n",
                  CM_CONTROL_FD);
    for (size_t i = 0; i < CM_ARRAY_LEN(option_rows); i++)
        (void)fprintf(stderr, "  %-16s %s\n", option_rows[i].name, option_rows[i].help);
    (void)fprintf(stderr, "  %-16s %s\n", "--stack-kb=N", "the most stack that a pass may use");
    return CM_EXIT_USAGE;
}

/** Of the main thread, whatever the user's setting was: the engine derives its bounds from it. */
static void set_stack(uint32_t stack_kb)
{
    rlim_t bytes = cm_engine_stack_bytes(stack_kb);
    struct rlimit now = {0};
    struct rlimit want = {bytes, bytes};

    if (getrlimit(RLIMIT_STACK, &now) == 0 && now.rlim_max < want.rlim_max)
        want.rlim_cur = want.rlim_max = now.rlim_max;
    (void)setrlimit(RLIMIT_STACK, &want);
}

/** SIGCHLD becomes readable; the rest is as at birth, except that a closed socket is an error and not the
 * end. */
static int prepare_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/** Threads of this process; 0: unknown. */
static unsigned count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    unsigned n = 0;

    if (!d)
        return 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    (void)closedir(d);
    return n;
}

/** Where these are missing the engine aborts without a word: then these are the last words that the host shows. */
static void warn_of_surroundings(void)
{
    struct rlimit space = {0};

    if (access("/proc/self/maps", R_OK) != 0)
        (void)fprintf(stderr, "there is no /proc/self/maps, which the engine reads\n");
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        (void)fprintf(stderr,
                      "the address space is limited (ulimit -v), and the engine reserves gigabytes\n");
}

/** What a program sees of time zone and language is fixed here: nothing of the machine's shows through. */
static void set_environment(void)
{
    (void)clearenv();
    (void)setenv("TZ", "UTC", 1);
    (void)setenv("LC_ALL", "en_US.UTF-8", 1);
}

/** Create the VM for all workers. Returns 0 or the exit status. */
static int make_engine(struct cm_zygote *z)
{
    struct cm_err err = {0};

    if (cm_engine_new(&z->opts.engine, &z->engine, &err) != CM_OK) {
        (void)fprintf(stderr, "codemode-worker: the JavaScript engine does not start: %s\n", err.message);
        return 1;
    }
    /* A reservation that stays is a hole in the memory limit, which then does not count as holding. */
    z->uncapped = cm_engine_cap_reservations(NULL) != CM_OK;
    /* A helper thread may hold a lock at the moment of a fork, and its child would wait for it for ever. */
    return count_threads() == 1 ? 0 : CM_EXIT_THREADS;
}

int main(int argc, char **argv)
{
    struct options o = {.stack_kb = CM_LIMITS_DEFAULT.stack_kb};
    struct cm_zygote z = {.control_fd = CM_CONTROL_FD};

    if (!parse_options(argc, argv, &o) || !is_control_socket(CM_CONTROL_FD))
        return usage();
    (void)syscall(SYS_close_range, CM_CONTROL_FD + 1, ~0U, 0);
    set_environment();
    set_stack(o.stack_kb);
    warn_of_surroundings();
    z.signal_fd = prepare_signals();
    z.lock.status_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    cm_engine_prepare_process(o.no_jit);
    z.opts.engine.no_jit = o.no_jit;
    z.opts.engine.one_shot = o.one_shot;
    z.opts.vm_per_pass = o.vm_per_pass;
    z.opts.may_look = cm_processors() > 1;
    z.vm_per_worker = o.vm_per_worker;
    (void)cm_lock__build_filter(&z.lock);
    cm_lockdown_begin(&z.lock);
    cm_zygote_start_trial(&z);
    int rc = z.vm_per_worker ? 0 : make_engine(&z);
    if (rc == 0) {
        if (!z.vm_per_worker)
            cm_lockdown_root(&z.lock);
        cm_zygote_end_trial(&z);
        cm_zygote_run(&z);
    }
    /* Not exit, for the workers' reason; the workers end with this process. */
    _exit(rc);
}
