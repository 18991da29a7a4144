/**
 * A world that can stop after any effect: a runtime with its store in a file, a scripted worker (scripted.h), a connector whose tools count
 * in memory that survives the process, and a count of everything that reaches beyond it. To be included by one test file.
 *
 * An effect is a write or a sync of a file, a record given to the store, a call that reaches a tool, an outcome that reaches the worker, and
 * word to the embedder. Each is counted before it happens, and the process can be made to end there (crash_at): then it has had the effects
 * before, and not this one. Writes and syncs can also be made to fail. With `power` what no sync covered is lost too.
 */
#ifndef CM_TESTS_SCHED_WORLD_H
#define CM_TESTS_SCHED_WORLD_H

#include "base/clock.h"
#include "base/fd.h"
#include "connector/kinds.h"
#include "runtime/runtime.h"

#include "scripted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sqlite3.h>

#define CRASHED  77
#define WRONG    78
#define ARGS_MAX 160
#define TTL_MS   3600000 /* longer than any schedule takes */

/** What a tool did, by the arguments that it got. */
struct deed {
    char method[16], args[ARGS_MAX];
    int done, undone;
    bool approved; /* a human said yes to it */
};

/** Outside of every process of a schedule. */
struct outside {
    int64_t n_effects, crash_at;      /* crash_at 0: never */
    int n_writes;                     /* in a row */
    int64_t n_io, fail_io_at;         /* writes and syncs; one from there on fails until `repaired` */
    int64_t n_memory, fail_memory_at; /* the same of memory that the database asks for */
    int64_t n_alloc, fail_alloc_at;   /* and of memory that anybody asks for (sched_memory.h) */
    int fail_errno;
    bool fail_once, failed, repaired, power;
    bool counting;
    char last[64]; /* the newest effect */
    struct deed deeds[48];
    size_t n_deeds;
    int unsettled, settling; /* unsafe calls with an intent; of those, answered in the open group */
    int in_kernel;           /* of those, answered in a group that no sync has covered */
    int open_then;           /* so many were unsettled when a process of this schedule ended */
    int n_reported_unknown;  /* calls that a human was asked about though they had been done */
    bool cut_short;          /* the program did not come as far as the undisturbed run, or went another way */
    bool no_memory;          /* for a call, which has failed by it */
    bool told;
    enum cm_exec_state told_state;
    char failure[2048];
};
static struct outside *out;

_Noreturn static void bad(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(out->failure, sizeof out->failure, fmt, ap);
    va_end(ap);
    _exit(WRONG);
}

static void effect(const char *what)
{
    if (!out || !out->counting)
        return;
    /* Of writes in a row the first two: none, and some. Between the others and the next effect lies nothing of ours. */
    out->n_writes = cm_z_eq(what, "write") ? out->n_writes + 1 : 0;
    if (out->n_writes > 2)
        return;
    out->n_effects++;
    (void)snprintf(out->last, sizeof out->last, "%s", what);
    if (out->n_effects == out->crash_at)
        _exit(CRASHED);
}

/* ---- writes and syncs, in place of the C library's ---- */

/** Whether the one that comes now is to fail. */
static bool is_to_fail(int64_t *n, int64_t at)
{
    if (at == 0 || out->repaired || ++*n < at || (out->fail_once && out->failed))
        return false;
    out->failed = true;
    return true;
}

/** errno of a write or sync that is to fail, or 0. */
static int failing(void)
{
    return out && out->counting && is_to_fail(&out->n_io, out->fail_io_at) ? out->fail_errno : 0;
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *p, size_t len, off64_t at)
{
    int eno;

    effect("write");
    eno = failing();
    if (eno) {
        errno = eno;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, p, len, at);
}

static void copy_file(int from, const char *to)
{
    static char buf[1 << 16];
    cm_autoclose int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    off_t at = 0;
    ssize_t n;

    while ((n = pread(from, buf, sizeof buf, at)) > 0) {
        if (write(fd, buf, (size_t)n) != n)
            bad("cannot copy to %s: %s", to, strerror(errno));
        at += n;
    }
}

/** What the disk has of a file from now on: "DIR/x" is kept as "DIR/disk/x". */
static void note_synced(int fd)
{
    char link[64], path[256], kept[300];
    ssize_t n;
    char *slash;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return;
    path[n] = '\0';
    slash = strrchr(path, '/');
    (void)snprintf(kept, sizeof kept, "%.*s/disk%s", (int)(slash - path), path, slash);
    copy_file(fd, kept);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    int eno;

    effect("sync");
    eno = failing();
    if (eno) {
        errno = eno;
        return -1;
    }
    if (out && out->power) {
        note_synced(fd);
        out->unsettled -= out->in_kernel;
        out->in_kernel = 0;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---- the memory of the database ---- */

static sqlite3_mem_methods memory;

static bool is_out_of_memory(void)
{
    return out && out->counting && is_to_fail(&out->n_memory, out->fail_memory_at);
}

static void *get_memory(int n)
{
    return is_out_of_memory() ? NULL : memory.xMalloc(n);
}

static void *get_more_memory(void *p, int n)
{
    return is_out_of_memory() ? NULL : memory.xRealloc(p, n);
}

/** Before the database is used for the first time. */
static bool count_memory(void)
{
    sqlite3_mem_methods counted;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK)
        return false;
    counted = memory;
    counted.xMalloc = get_memory;
    counted.xRealloc = get_more_memory;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK;
}

/* ---- records given to the store; the linker puts these in the place of the store's ---- */

static bool is_unsafe(unsigned flags)
{
    return (flags & (CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT)) == 0;
}

#define WRAP_(name, declared, passed)          \
    cm_status __real_cm_store_##name declared; \
    cm_status __wrap_cm_store_##name declared; \
    cm_status __wrap_cm_store_##name declared  \
    {                                          \
        effect(#name);                         \
        return __real_cm_store_##name passed;  \
    }

/* clang-format off */
WRAP_(begin, (cm_store *s, const struct cm_exec_row *row, struct cm_err *err), (s, row, err))
WRAP_(claim, (cm_store *s, const char *id, int64_t now, struct cm_err *err), (s, id, now, err))
WRAP_(call_decide, (cm_store *s, const char *id, uint32_t seq, const struct cm_decision_row *d, struct cm_err *err),
      (s, id, seq, d, err))
WRAP_(call_deliver, (cm_store *s, const char *id, uint32_t seq, int64_t delivery, int64_t at, struct cm_err *err),
      (s, id, seq, delivery, at, err))
WRAP_(call_ask, (cm_store *s, const char *id, uint32_t seq, const char *rule, struct cm_err *err),
      (s, id, seq, rule, err))
WRAP_(call_revert, (cm_store *s, const char *id, uint32_t seq, int64_t at, const char *error, struct cm_err *err),
      (s, id, seq, at, error, err))
WRAP_(call_revert_start, (cm_store *s, const char *id, uint32_t seq, int64_t at, int64_t expected, const char *by,
      struct cm_err *err), (s, id, seq, at, expected, by, err))
WRAP_(rolled_back, (cm_store *s, const char *id, int64_t at, struct cm_err *err), (s, id, at, err))
/* clang-format on */

cm_status __real_cm_store_commit(cm_store *s, bool sync, struct cm_err *err);
cm_status __wrap_cm_store_commit(cm_store *s, bool sync, struct cm_err *err);
cm_status __wrap_cm_store_commit(cm_store *s, bool sync, struct cm_err *err)
{
    cm_status st;

    effect(sync ? "commit with sync" : "commit");
    st = __real_cm_store_commit(s, sync, err);
    if (st != CM_OK)
        return st;
    out->in_kernel += out->settling;
    out->settling = 0;
    if (sync || !out->power) {
        out->unsettled -= out->in_kernel;
        out->in_kernel = 0;
    }
    return st;
}

cm_status __real_cm_store_finish(cm_store *s, const char *id, unsigned from, const struct cm_exec_row *row,
                                 struct cm_err *err);
cm_status __wrap_cm_store_finish(cm_store *s, const char *id, unsigned from, const struct cm_exec_row *row,
                                 struct cm_err *err);
cm_status __wrap_cm_store_finish(cm_store *s, const char *id, unsigned from, const struct cm_exec_row *row,
                                 struct cm_err *err)
{
    effect("finish");
    return __real_cm_store_finish(s, id, from, row, err);
}

cm_status __real_cm_store_call_intent(cm_store *s, const char *id, const struct cm_call_row *row, bool sync,
                                      struct cm_err *err);
cm_status __wrap_cm_store_call_intent(cm_store *s, const char *id, const struct cm_call_row *row, bool sync,
                                      struct cm_err *err);
cm_status __wrap_cm_store_call_intent(cm_store *s, const char *id, const struct cm_call_row *row, bool sync,
                                      struct cm_err *err)
{
    effect("intent");
    out->unsettled +=
        row->kind == CM_CALL_TOOL && row->state == CM_CALL_EXECUTING && is_unsafe(row->method_flags);
    return __real_cm_store_call_intent(s, id, row, sync, err);
}

cm_status __real_cm_store_call_start(cm_store *s, const char *id, uint32_t seq, int64_t at, bool sync,
                                     struct cm_err *err);
cm_status __wrap_cm_store_call_start(cm_store *s, const char *id, uint32_t seq, int64_t at, bool sync,
                                     struct cm_err *err);
cm_status __wrap_cm_store_call_start(cm_store *s, const char *id, uint32_t seq, int64_t at, bool sync,
                                     struct cm_err *err)
{
    effect("start");
    out->unsettled += sync;
    return __real_cm_store_call_start(s, id, seq, at, sync, err);
}

cm_status __real_cm_store_call_outcome(cm_store *s, const char *id, const struct cm_call_row *row,
                                       struct cm_err *err);
cm_status __wrap_cm_store_call_outcome(cm_store *s, const char *id, const struct cm_call_row *row,
                                       struct cm_err *err);
cm_status __wrap_cm_store_call_outcome(cm_store *s, const char *id, const struct cm_call_row *row,
                                       struct cm_err *err)
{
    effect("outcome");
    /* One that waited for a human, and was never sent, was not open. */
    out->settling +=
        row->kind == CM_CALL_TOOL && is_unsafe(row->method_flags) && row->state != CM_CALL_CANCELLED;
    return __real_cm_store_call_outcome(s, id, row, err);
}

void __real_cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                            int64_t now_ms, uint32_t draw);
void __wrap_cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                            int64_t now_ms, uint32_t draw);
void __wrap_cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                            int64_t now_ms, uint32_t draw)
{
    effect("delivery");
    __real_cm_pass_deliver(p, id, failed, execute, value, now_ms, draw);
}

/* ---- work of another thread: begun at one moment, done at another, and the world goes on in between ---- */

struct cm_job {
    cm_work_fn run, done;
    void *user;
    enum { ASKED, RAN } at;
    cm_job *next;
};
static cm_job *jobs;

cm_job *__wrap_cm_job_start(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user);
void __wrap_cm_job_end(cm_job *j);

cm_job *__wrap_cm_job_start(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user)
{
    cm_job *j = cm_new(cm_job), **at = &jobs;

    (void)l;
    *j = (cm_job){.run = run, .done = done, .user = user};
    while (*at)
        at = &(*at)->next;
    *at = j;
    return j;
}

static void run_job(cm_job *j)
{
    j->run(j->user); /* the sync in it is an effect */
    j->at = RAN;
    effect("synced, and the loop has not heard of it");
}

/** The thread does one thing, or the loop hears of it. False: there is nothing to do. */
static bool job_turn(void)
{
    cm_job *j = jobs;

    if (!j)
        return false;
    if (j->at == ASKED) {
        run_job(j);
        return true;
    }
    jobs = j->next;
    j->done(j->user);
    free(j);
    return true;
}

void __wrap_cm_job_end(cm_job *j)
{
    cm_job **at = &jobs;

    if (j->at == ASKED)
        run_job(j);
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    free(j);
}

/* ---- the tools ---- */

static struct deed *deed_of(const char *method, struct cm_str args)
{
    struct deed *d;

    for (size_t i = 0; i < out->n_deeds; i++)
        if (cm_z_eq(out->deeds[i].method, method) && cm_str_eq_z(args, out->deeds[i].args))
            return &out->deeds[i];
    if (out->n_deeds == CM_ARRAY_LEN(out->deeds) || args.len >= ARGS_MAX)
        bad("the world has no room for %s %.*s", method, CM_STR_ARG(args));
    d = &out->deeds[out->n_deeds++];
    (void)snprintf(d->method, sizeof d->method, "%s", method);
    (void)snprintf(d->args, sizeof d->args, "%.*s", CM_STR_ARG(args));
    return d;
}

struct tool {
    const char *name;
    unsigned flags;
    enum { ANSWERS, FAILS, WAITS } how; /* WAITS: answered when nothing else can go on, the newest first */
    bool reverts;
};

static const struct tool tools[] = {
    {"send", 0, ANSWERS, false},
    {"slow", 0, WAITS, false},
    {"broken", 0, FAILS, false},
    {"make", 0, ANSWERS, true},
    {"put", CM_METHOD_IDEMPOTENT, ANSWERS, false},
    {"putslow", CM_METHOD_IDEMPOTENT, WAITS, false},
    {"read", CM_METHOD_READ_ONLY, ANSWERS, false},
    {"readslow", CM_METHOD_READ_ONLY, WAITS, false},
    {"look", CM_METHOD_READ_ONLY | CM_METHOD_REEXECUTE, ANSWERS, false},
    {"wipe", CM_METHOD_REQUIRES_APPROVAL, ANSWERS, true},
    {"wipeslow", CM_METHOD_REQUIRES_APPROVAL, WAITS, false},
    {"bomb", CM_METHOD_REQUIRES_APPROVAL, FAILS, false},
    {"weigh", CM_METHOD_REQUIRES_APPROVAL | CM_METHOD_READ_ONLY, ANSWERS, false},
    {"gone", 0, ANSWERS, false}, /* the policy denies it */
};

static const struct tool *tool_of(const char *name)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++)
        if (cm_z_eq(tools[i].name, name))
            return &tools[i];
    return NULL;
}

/** Calls that wait for their answer. */
static struct {
    cm_call *call;
    char args[ARGS_MAX];
} kept[32];
static size_t n_kept;

static void answer_newest(void)
{
    n_kept--;
    cm_native_reply_json(kept[n_kept].call, cm_str_of(kept[n_kept].args));
}

static void on_tool(void *user, cm_call *call, struct cm_str args)
{
    const struct tool *t = user;
    struct deed *d = deed_of(t->name, args);

    effect(t->name);
    if ((t->flags & CM_METHOD_REQUIRES_APPROVAL) && !d->approved)
        bad("%s %s ran, and nobody had approved it", t->name, d->args);
    if (cm_z_eq(t->name, "gone"))
        bad("%s ran, which the policy denies", t->name);
    if (++d->done > 1 && is_unsafe(t->flags))
        bad("%s %s ran twice", t->name, d->args);
    effect("done"); /* it has happened, and nobody has heard of it */
    if (t->how == FAILS) {
        cm_native_reply_error(call, "teapot", CM_STR(""), "no coffee");
    } else if (t->how == ANSWERS) {
        cm_native_reply_json(call, args);
    } else {
        (void)snprintf(kept[n_kept].args, ARGS_MAX, "%s", d->args);
        kept[n_kept++].call = call;
    }
}

static void on_revert(void *user, cm_call *call, struct cm_str json)
{
    const struct tool *t = user;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf args = CM_BUF_INIT(1u << 16);
    struct deed *d;

    if (cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        bad("a revert got %.*s", CM_STR_ARG(json));
    cm_json_write(&args, cm_json_get(yyjson_doc_get_root(doc), "args"));
    d = deed_of(t->name, cm_buf_str(&args));
    effect("revert");
    /* What may have been done is undone as well. */
    if (d->done == 0 && out->open_then == 0 && !out->failed)
        bad("%s %s was reverted and had not been done", t->name, d->args);
    if (++d->undone > 1)
        bad("%s %s was reverted twice", t->name, d->args);
    effect("reverted");
    cm_native_reply_json(call, CM_STR("true"));
}

/* ---- the world ---- */

struct world {
    cm_loop *loop;
    cm_store *store;
    cm_config *config;
    cm_connector *conn;
    cm_runtime *rt;
    cm_exec *exec;
    unsigned n_rollbacks;
    bool told, no_outcome;
    struct cm_err err; /* why there was no outcome */
};

static void open_world(struct world *w, const char *where, const char *config, bool keep)
{
    const struct cm_connector_base base = {.name = "world", .origin = "a test"};
    const struct cm_config_lookup lookup = {.text = config};
    struct cm_err err = {0};
    struct cm_runtime_opts opts = {.limits = CM_LIMITS_DEFAULT, .name = "default"};

    if (cm_loop_new(&w->loop, &err) != CM_OK || cm_store_open(where, &w->store, &err) != CM_OK ||
        cm_config_load(&lookup, &w->config, &err) != CM_OK)
        bad("cannot open: %s", err.message);
    w->conn = cm_connector_native(w->loop, &base, NULL);
    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++) {
        struct tool *t = cm_new(struct tool);
        struct cm_native_tool nt = {.name = tools[i].name, .flags = tools[i].flags, .fn = on_tool, .user = t};

        *t = tools[i];
        if (t->reverts)
            nt.revert = on_revert;
        if (cm_connector_native_add(w->conn, &nt, &err) != CM_OK)
            bad("%s", err.message);
    }
    opts.grace_ms = keep ? TTL_MS : 0;
    opts.paused_ttl_ms = TTL_MS;
    opts.loop = w->loop;
    opts.store = w->store;
    opts.connectors = &w->conn;
    opts.n_connectors = 1;
    opts.config = w->config;
    if (cm_runtime_open(&opts, &w->rt, &err) != CM_OK)
        bad("cannot open: %s", err.message);
}

#endif
