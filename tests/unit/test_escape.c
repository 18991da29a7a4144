/**
 * Getting out: programs that try it in JavaScript (tests/cases/escape), and what would be left to one that had already taken over
 * its process: system calls, made in a worker's own name by way of ptrace.
 */
#include "base/fd.h"
#include "base/sanitize.h"
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
#define PROGRAM  "// ---- program\n"

/** ---- programs ---- */

/** One program of a case while it runs. */
struct attempt_run {
    const char *head; /* the lines that say what must happen */
    cm_pass *pass;
    bool ended;
    struct cm_buf seen;   /* calls and ends of steps, one a line */
    struct cm_buf logs;   /* "level text", one a line */
    struct cm_buf result; /* json, and " @ marks" where there are any */
    struct cm_buf meta;
    char end[64];
};

/** The rest of the next line "// key: " of a head, from *at on, which moves behind it; {NULL, 0} when there is none. */
static struct cm_str next_line(const char **at, const char *key)
{
    char mark[32];

    (void)snprintf(mark, sizeof(mark), "// %s: ", key);
    while (strncmp(*at, "//", 2) == 0 && strncmp(*at, PROGRAM, strlen(PROGRAM)) != 0) {
        const char *line = *at;
        size_t len = strcspn(line, "\n");
        *at = line + len + (line[len] ? 1 : 0);
        if (len >= strlen(mark) && strncmp(line, mark, strlen(mark)) == 0)
            return cm_str_mk(line + strlen(mark), len - strlen(mark));
    }
    return (struct cm_str){NULL, 0};
}

static struct cm_str head_line(const char *head, const char *key)
{
    return next_line(&head, key);
}

/** All lines of a key, as they are recorded: each with a line break. */
static void head_lines(const char *head, const char *key, struct cm_buf *out)
{
    for (struct cm_str s = next_line(&head, key); s.ptr; s = next_line(&head, key)) {
        cm_buf_add_str(out, s);
        cm_buf_add_char(out, '\n');
    }
}

static bool holds(struct cm_str text, const char *part)
{
    return text.len && memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void add_value(struct cm_buf *b, struct cm_value v)
{
    cm_buf_add_str(b, v.json);
    if (v.marks.len) {
        cm_buf_add_z(b, " @ ");
        cm_buf_add_str(b, v.marks);
    }
}

/** The value that a line "// answer: method json @ marks" gives to a method; false without such a line. */
static bool told(const char *head, const char *key, struct cm_str method, struct cm_value *out)
{
    for (struct cm_str s = next_line(&head, key); s.ptr; s = next_line(&head, key)) {
        if (s.len <= method.len || strncmp(s.ptr, method.ptr, method.len) != 0 || s.ptr[method.len] != ' ')
            continue;
        struct cm_str json = cm_str_mk(s.ptr + method.len + 1, s.len - method.len - 1);
        const char *cut = memmem(json.ptr, json.len, " @ ", 3);
        *out = (struct cm_value){.json = json};
        if (cut) {
            out->marks = cm_str_mk(cut + 3, (size_t)(json.ptr + json.len - cut - 3));
            out->json.len = (size_t)(cut - json.ptr);
        }
        return true;
    }
    return false;
}

static void attempt_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                         struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    static const char *const kinds[CM_CALL_KIND_COUNT_] = {"", "step", "search", "describe", "timer", "run"};
    struct attempt_run *r = user;
    struct cm_value answer;
    char text[128];

    (void)at;
    cm_buf_add_z(&r->seen, kinds[kind]);
    if (kind == CM_CALL_TOOL) {
        cm_buf_add_str(&r->seen, connector);
        cm_buf_add_char(&r->seen, '.');
    } else if (kind == CM_CALL_STEP || kind == CM_CALL_RUN) {
        cm_buf_add_char(&r->seen, ' ');
    }
    cm_buf_add_str(&r->seen, method);
    if (args.json.len)
        cm_buf_add_char(&r->seen, ' ');
    add_value(&r->seen, args);
    cm_buf_add_char(&r->seen, '\n');
    struct cm_str name = kind == CM_CALL_TOOL ? method : cm_str_of(kinds[kind]);
    if (told(r->head, "hang", name, &answer))
        return;
    if (kind == CM_CALL_RUN && told(r->head, "snippet", method, &answer)) {
        cm_pass_deliver(p, id, false, true, answer, 1700000000500, 1);
        return;
    }
    bool failed = kind == CM_CALL_TOOL && told(r->head, "fail", method, &answer);
    if (!failed && !told(r->head, "answer", name, &answer)) {
        (void)snprintf(text, sizeof(text), "\"%.*s\"", method.len > 100 ? 100 : CM_STR_ARG(method));
        answer = (struct cm_value){.json = kind == CM_CALL_TOOL ? cm_str_of(text) : CM_STR("")};
    }
    cm_pass_deliver(p, id, failed, kind == CM_CALL_STEP, answer, 1700000000500, 1);
}

static void attempt_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct attempt_run *r = user;

    cm_buf_add_z(&r->seen, failed ? "step failed " : "step ended ");
    add_value(&r->seen, value);
    cm_buf_add_char(&r->seen, '\n');
    cm_pass_deliver(p, id, failed, false, value, 1700000000500, 1);
}

static void attempt_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    static const char *const levels[] = {"log ", "info ", "warn ", "error ", "debug "};
    struct attempt_run *r = user;

    (void)p;
    cm_buf_add_z(&r->logs, levels[level]);
    cm_buf_add_str(&r->logs, text);
    cm_buf_add_char(&r->logs, '\n');
}

static void attempt_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    (void)user, (void)p, (void)outstanding;
}

static void attempt_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct attempt_run *r = user;

    (void)p;
    assert_false(r->ended);
    r->ended = true;
    add_value(&r->result, end->value);
    cm_buf_add_str(&r->meta, end->meta_json);
    (void)snprintf(r->end, sizeof(r->end), "%s",
                   end->kind == CM_PASS_COMPLETED                ? "completed"
                   : end->kind == CM_PASS_THREW && !end->code[0] ? "threw"
                                                                 : end->code);
}

/** Nobody waits for what it did not await. */
static void attempt_ended(void *user, cm_pass *p, bool failed)
{
    (void)user, (void)failed;
    cm_pass_finish(p);
}

static const struct cm_pass_events attempt_events = {.on_call = attempt_call,
                                                     .on_step_end = attempt_step_end,
                                                     .on_log = attempt_log,
                                                     .on_wait = attempt_wait,
                                                     .on_end = attempt_end,
                                                     .on_ended = attempt_ended};

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

/** The result, or the end with the error: "Name: part of the message" and its code. */
static bool ended_as_told(const struct attempt_run *r)
{
    struct cm_str expected = head_line(r->head, "expect"), end = head_line(r->head, "end");
    struct cm_str error = head_line(r->head, "error"), code = head_line(r->head, "code");
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *e;

    if (expected.ptr)
        return cm_z_eq(r->end, "completed") && cm_str_eq(expected, cm_buf_str(&r->result));
    if (!is_one_of(end, r->end))
        return false;
    if (!cm_z_eq(r->end, "threw"))
        return true;
    assert_int_equal(cm_json_parse(cm_buf_str(&r->meta), CM_JSON_STRICT, &doc, NULL), CM_OK);
    e = cm_json_get(yyjson_doc_get_root(doc), "error");
    cm_autofree char *told = cm_memdup_z(error.ptr ? error.ptr : "", error.len);
    char *part = strstr(told, ": ");
    if (!part || !cm_str_eq(cm_json_str(cm_json_get(e, "code")), code.ptr ? code : CM_STR("")))
        return false;
    *part = '\0';
    return cm_str_eq_z(cm_json_str(cm_json_get(e, "name")), told) &&
           holds(cm_json_str(cm_json_get(e, "message")), part + 2);
}

/** Every line "// warning: part" has its warning, in order, and there are no others. */
static bool warned_as_told(const struct attempt_run *r)
{
    const char *at = r->head;
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *list, *v;
    yyjson_arr_iter it;

    if (r->meta.len == 0)
        return true; /* it was stopped, and has nothing to say */
    assert_int_equal(cm_json_parse(cm_buf_str(&r->meta), CM_JSON_STRICT, &doc, NULL), CM_OK);
    list = cm_json_get(yyjson_doc_get_root(doc), "warnings");
    yyjson_arr_iter_init(list, &it);
    while ((v = yyjson_arr_iter_next(&it))) {
        struct cm_str part = next_line(&at, "warning");
        cm_autofree char *z = cm_memdup_z(part.ptr ? part.ptr : "", part.len);
        if (!part.ptr || !holds(cm_json_str(v), z))
            return false;
    }
    return !next_line(&at, "warning").ptr;
}

/** What was recorded is what the lines of a key say; "// <all>: any" takes everything. */
static bool saw_as_told(const struct attempt_run *r, const struct cm_buf *seen, const char *key,
                        const char *all)
{
    cm_autobuf told_lines = CM_BUF_INIT(1u << 20);

    if (cm_str_eq(head_line(r->head, all), CM_STR("any")))
        return true;
    head_lines(r->head, key, &told_lines);
    return cm_str_eq(cm_buf_str(&told_lines), cm_buf_str(seen));
}

/** In pieces that the test library prints whole. */
static void print_seen(const char *what, const struct cm_buf *b)
{
    print_error("-- %s, %zu bytes\n", what, b->len);
    for (size_t at = 0; at < b->len && at < 4000; at += 500)
        print_error("%.*s", (int)(b->len - at < 500 ? b->len - at : 500), b->ptr + at);
    print_error("\n");
}

static bool is_as_told(const struct attempt_run *r, const char *name, const char *isolation)
{
    bool ok = ended_as_told(r) && warned_as_told(r) && saw_as_told(r, &r->seen, "call", "calls") &&
              saw_as_told(r, &r->logs, "log", "logs");

    if (!ok) {
        print_error("%s (%s): end '%s'\n", name, isolation, r->end);
        print_seen("value", &r->result);
        print_seen("meta", &r->meta);
        print_seen("calls", &r->seen);
        print_seen("logs", &r->logs);
    }
    return ok;
}

/** One program of a case. */
static bool run_program(struct world *w, const char *isolation, const char *name, const char *text)
{
    struct attempt_run r = {.head = text,
                            .seen = CM_BUF_INIT(1u << 24),
                            .logs = CM_BUF_INIT(1u << 24),
                            .result = CM_BUF_INIT(CM_FRAME_MAX_BYTES),
                            .meta = CM_BUF_INIT(CM_FRAME_MAX_BYTES)};
    struct cm_str end = head_line(text, "end");
    const char *program = strstr(text, PROGRAM);
    struct cm_err err = {0};
    struct cm_pass_spec spec = {
        .runtime = "test",
        .source = cm_str_of(program ? program + strlen(PROGRAM) : text),
        .bind_json = cm_str_of(run_bind),
        .input = {.json = head_line(text, "input")},
        .seed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        .now_ms = 1700000000000,
        .limits = CM_LIMITS_DEFAULT,
    };

    assert_true(end.ptr || head_line(text, "expect").ptr);
    if (!head_line(text, "tries").ptr || !head_line(text, "why").ptr)
        fail_msg("%s does not say what it tries and why it fails", name);
    /* Only what is to be stopped is stopped early: a sanitizer's build takes its time. */
    spec.limits.cpu_ms = end.ptr && holds(end, "cpu_limit") ? 300 : 20000;
    spec.limits.memory_mb = CM_SANITIZED ? 2048 : 96; /* a sanitizer keeps what was freed */
    spec.limits.deadline_ms = 120000;
    if (cm_sandbox_start(w->sb, &spec, &attempt_events, &r, &r.pass, &err) != CM_OK)
        fail_msg("%s: %s", name, err.message);
    while (!r.ended)
        assert_true(cm_loop_once(w->loop));
    bool ok = is_as_told(&r, name, isolation);
    cm_buf_done(&r.seen);
    cm_buf_done(&r.logs);
    cm_buf_done(&r.result);
    cm_buf_done(&r.meta);
    return ok;
}

/** What takes its whole CPU limit or fills the memory does so in one setting: how a pass is stopped is the same in all. */
static bool is_costly(const char *text)
{
    struct cm_str end = head_line(text, "end");

    return end.ptr && (holds(end, "cpu_limit") || holds(end, "memory_limit"));
}

struct tally {
    unsigned n_programs;
    unsigned n_bad;
};

static void run_case(struct world *w, const char *isolation, bool memory_held, const char *dir,
                     const char *name, struct tally *t)
{
    cm_autofree char *path = cm_asprintf("%s/%s", dir, name);
    cm_autofree char *text = NULL;

    assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
    for (char *at = text; at;) {
        char *next = strstr(at, NEXT_RUN);
        struct cm_str end = head_line(at, "end");
        if (next)
            *next = '\0';
        bool here = cm_z_eq(isolation, "realm") || !is_costly(at);
        if (here && !memory_held && end.ptr && holds(end, "memory_limit")) {
            print_message("# not run: %s, which is about the memory limit\n", name);
        } else if (here) {
            t->n_programs++;
            t->n_bad += !run_program(w, isolation, name, at);
        }
        at = next ? next + strlen(NEXT_RUN) : NULL;
    }
}

/** Every file of the folder, one worker after the other serving one runtime. */
static void run_cases(const char *isolation)
{
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = 1, .isolation = isolation});
    const char *root = getenv("CM_SOURCE_ROOT");
    struct dirent **names = NULL;
    struct tally t = {0};
    uint64_t layers = 0;
    char dir[4096];

    while (cm_sandbox_layers(w.sb, &layers, NULL) != CM_OK)
        assert_true(cm_loop_once(w.loop));
    bool memory_held = (layers & (UINT64_C(1) << CM_LAYER_MEMORY)) != 0;
    if (!memory_held && getenv("CM_TESTS_ALL"))
        fail_msg("the layer 'memory limit' is missing");
    (void)snprintf(dir, sizeof(dir), "%s/tests/cases/escape", root ? root : ".");
    int n = scandir(dir, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]->d_name);
        if (len > 3 && cm_z_eq(names[i]->d_name + len - 3, ".js"))
            run_case(&w, isolation, memory_held, dir, names[i]->d_name, &t);
        free(names[i]);
    }
    free(names);
    close_world(&w);
    print_message("# %u programs in '%s'\n", t.n_programs, isolation);
    assert_int_equal(t.n_bad, 0);
    assert_true(t.n_programs > 200);
}

static void no_program_gets_out_of_a_realm(void **state)
{
    (void)state;
    run_cases("realm");
}

static void no_program_gets_out_of_a_vm(void **state)
{
    (void)state;
    run_cases("vm");
}

static void no_program_gets_out_of_a_process(void **state)
{
    (void)state;
    run_cases("process");
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
 * Stop a worker inside recvfrom(2). It says that it waits before it does, so it may be met a little earlier: then it is let go on and
 * stopped again.
 */
static bool stop_in_receive(pid_t pid, struct user_regs_struct *regs)
{
    int status = 0;

    for (;;) {
        if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid ||
            !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, regs) != 0)
            return false;
        if ((long)regs->orig_rax == SYS_recvfrom)
            return true;
        if (ptrace(PTRACE_DETACH, pid, NULL, NULL) != 0)
            return false;
        (void)sched_yield();
    }
}

/**
 * Make one system call in a worker and say how it ended: the errno value, 0 for success, -1 when the process was killed by SIGSYS,
 * -2 anything else. The worker is stopped in recvfrom(2), so the instruction before its program counter is `syscall`.
 */
static int call_in(pid_t pid, const struct attempt *a)
{
    struct user_regs_struct regs;
    int status = 0;

    if (!stop_in_receive(pid, &regs))
        return -2;
    regs.rip -= 2;
    regs.orig_rax = (unsigned long long)-1; /* no restart of the call that was interrupted */
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
        cmocka_unit_test(no_program_gets_out_of_a_realm),
        cmocka_unit_test(no_program_gets_out_of_a_vm),
        cmocka_unit_test(no_program_gets_out_of_a_process),
#if defined(__x86_64__)
        cmocka_unit_test(a_worker_that_was_taken_over_has_no_call_to_get_out_by),
#endif
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
