/**
 * One worker as the host sees it: a socket, a pidfd, and a state.
 *
 *   FORKING ─FORKED→ STARTING ─HELLO→ READY ─RUN→ BUSY ─DONE→ TIDYING ─IDLE→ READY …
 *                                            BUSY ─DROP→ TIDYING
 *   any state ─kill, hang-up→ DYING ─EXITED and hung up→ GONE
 *
 * It is hostile. A frame is decoded only when its header fits its type, and handled only in the states of the
 * table below; anything else ends it. Two signs say that it is gone: its socket ends (what it had sent is
 * read first) and the zygote reports how it ended. Only both together decide how its pass ended, since a
 * crash may be the memory limit.
 */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_SLACK_BYTES 131072     /* what one read may bring beyond a frame */
#define LAST_WORDS_BYTES (1u << 20) /* more than a socket holds; until the kill it may be filled again */
#define IDLE_GROWTH_KB \
    (16u << 10) /* of data, which does not shrink, or of what is resident, after which a worker is replaced */
#define IDLE_ANON_GROWTH_KB (64u << 10) /* the same of what is resident */
#define START_SAMPLE_MS     100
#define TIDY_SAMPLE_MS      100
#define AGE_DEFAULT_MS      3600000u
#define RUNS_DEFAULT        1000u

#define IN(state)           (1u << CM_WORKER_##state)

/** Which frames may come in which state; BUSY ones go on to the pass. */
struct frame_rule {
    enum cm_frame_type type;
    unsigned states;
    void (*handle)(struct cm_worker *w, const struct cm_frame *f);
};

static void on_hello(struct cm_worker *w, const struct cm_frame *f);
static void on_idle(struct cm_worker *w, const struct cm_frame *f);
static void on_pass_frame(struct cm_worker *w, const struct cm_frame *f);

static const struct frame_rule rules[] = {
    {CM_FRAME_HELLO, IN(STARTING), on_hello},   {CM_FRAME_CALL, IN(BUSY), on_pass_frame},
    {CM_FRAME_STEP, IN(BUSY), on_pass_frame},   {CM_FRAME_LOG, IN(BUSY), on_pass_frame},
    {CM_FRAME_WAIT, IN(BUSY), on_pass_frame},   {CM_FRAME_DONE, IN(BUSY), on_pass_frame},
    {CM_FRAME_CANCEL, IN(BUSY), on_pass_frame}, {CM_FRAME_IDLE, IN(TIDYING), on_idle},
};

struct cm_worker *cm_worker__new(cm_sandbox *sb, uint64_t serial)
{
    struct cm_worker *w = cm_new(struct cm_worker);

    w->sb = sb;
    w->serial = serial;
    w->pidfd = -1;
    w->born_ms = w->used_ms = cm_mono_ms();
    w->in = CM_BUF_INIT(CM_FRAME_MAX_BYTES + READ_SLACK_BYTES);
    return w;
}

struct cm_worker *cm_worker__find(const cm_sandbox *sb, uint64_t serial)
{
    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->serial == serial)
            return w;
    }
    return NULL;
}

void cm_worker__free(struct cm_worker *w)
{
    cm_stream_free(w->stream);
    cm_fd_close(w->pidfd);
    cm_buf_done(&w->in);
    cm_lane__unref(w->sb, w->lane);
    free(w->bind_json);
    free(w);
}

/** The hang-up and the report are both in: nothing can follow. */
static void settle_if_gone(struct cm_worker *w)
{
    if (!w->hung_up || !w->exited || w->state == CM_WORKER_GONE)
        return;
    bool was_starting = w->state == CM_WORKER_STARTING;

    w->state = CM_WORKER_GONE;
    if (w->pass)
        cm_pass__worker_died(w->pass, w->exit.type ? &w->exit : NULL);
    else if (was_starting && w->exit.type) {
        char text[256];
        cm_sandbox__worker_failed(w->sb, cm_verdict__exit_text(&w->exit, text, sizeof(text)));
    }
    cm_sandbox__wake(w->sb);
}

static void signal_kill(const struct cm_worker *w)
{
    if (w->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

void cm_worker__kill(struct cm_worker *w)
{
    if (w->state == CM_WORKER_GONE)
        return;
    signal_kill(w);
    /* Nothing it says counts any more. One that is still being forked ends when its descriptors come and are
     * closed. */
    cm_stream_free(cm_steal(&w->stream));
    cm_buf_done(&w->in);
    w->hung_up = true;
    w->state = CM_WORKER_DYING;
    settle_if_gone(w);
}

void cm_worker__exited(struct cm_worker *w, const struct cm_control_msg *m)
{
    w->exited = true;
    if (m)
        w->exit = *m;
    if (w->state == CM_WORKER_READY)
        w->state = CM_WORKER_DYING; /* its socket may not have told yet, and no pass is to be given to it */
    if (!w->stream)
        w->hung_up = true;
    if (!m) {
        /* With the zygote gone there is no report, and the kernel kills its children; be sure of it. */
        signal_kill(w);
    }
    settle_if_gone(w);
}

void cm_worker__hear_out(struct cm_worker *w)
{
    if (!w->stream || w->handling || w->state != CM_WORKER_BUSY)
        return;
    w->last_words = true;
    signal_kill(w);
    cm_stream_read_now(w->stream, LAST_WORDS_BYTES);
}

static void broke_protocol(struct cm_worker *w, const char *what)
{
    if (w->pass)
        cm_pass__end(w->pass, CM_END_PROTOCOL, what);
    else
        cm_worker__kill(w);
}

static void handle_frame(struct cm_worker *w, const struct cm_frame *f)
{
    if (w->last_words) {
        if (f->type == CM_FRAME_LOG && w->pass)
            cm_pass__frame(w->pass, f);
        return;
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(rules); i++) {
        if (rules[i].type == f->type && (rules[i].states & (1u << w->state)) != 0) {
            rules[i].handle(w, f);
            return;
        }
    }
    char what[96];
    (void)snprintf(what, sizeof(what), "a frame of type 0x%02x that is not allowed now", (unsigned)f->type);
    broke_protocol(w, what);
}

static bool is_listening(const struct cm_worker *w)
{
    return w->stream && w->state != CM_WORKER_DYING && w->state != CM_WORKER_GONE;
}

/** Handle the whole frames in [p, p+len); returns how many bytes they took. */
static size_t handle_bytes(struct cm_worker *w, const char *p, size_t len)
{
    size_t at = 0;

    while (is_listening(w)) {
        struct cm_err err = {0};
        struct cm_frame f;
        size_t used = 0;
        size_t max = w->pass ? w->pass->limits.frame_bytes : READ_SLACK_BYTES;
        cm_status st = cm_wire_decode(p + at, len - at, max, &f, &used, &err);
        if (st == CM_E_LIMIT && w->pass)
            cm_pass__end(w->pass, CM_END_FRAME, NULL);
        else if (st != CM_OK)
            broke_protocol(w, err.message);
        if (st != CM_OK || used == 0)
            break;
        at += used;
        handle_frame(w, &f);
    }
    return at;
}

static void on_data(void *user, struct cm_str bytes)
{
    struct cm_worker *w = user;

    if (!is_listening(w))
        return;
    w->handling = true;
    if (w->pass)
        cm_pass__heard(w->pass);
    if (w->in.len == 0) {
        /* The common case copies nothing: whole frames are handled where they lie. */
        size_t used = handle_bytes(w, bytes.ptr, bytes.len);
        bytes = cm_str_mk(bytes.ptr + used, bytes.len - used);
        if (is_listening(w))
            cm_buf_add_str(&w->in, bytes);
    } else {
        cm_buf_add_str(&w->in, bytes);
        size_t used = w->in.failed ? 0 : handle_bytes(w, w->in.ptr, w->in.len);
        if (is_listening(w))
            cm_buf_drop_front(&w->in, used);
    }
    if (is_listening(w) && w->in.failed)
        broke_protocol(w, "more bytes than any frame has");
    if (is_listening(w) && w->in.len == 0 && w->in.cap > READ_SLACK_BYTES)
        cm_buf_done(&w->in);
    w->handling = false;
}

static void on_end(void *user, int eno)
{
    struct cm_worker *w = user;

    (void)eno;
    /* A process that ended of itself has its status already; one that only closed its socket ends now. */
    signal_kill(w);
    w->hung_up = true;
    if (w->state != CM_WORKER_STARTING)
        w->state = CM_WORKER_DYING;
    settle_if_gone(w);
}

static const struct cm_stream_events stream_events = {.on_data = on_data, .on_end = on_end};

void cm_worker__adopt(struct cm_worker *w, const struct cm_control_msg *m, int take_socket, int take_pidfd)
{
    w->pid = (pid_t)m->pid;
    w->pidfd = take_pidfd;
    w->has_cpu_clock = w->pid > 0 && clock_getcpuclockid(w->pid, &w->cpu_clock) == 0;
    w->vmdata_kb = m->vmdata_kb;
    w->data_kb = m->vmdata_kb ? m->vmdata_kb + ((uint64_t)CM_WORKER_MEMORY_MB << 10) : 0;
    w->state = CM_WORKER_STARTING;
    w->born_ms = w->since_ms = cm_mono_ms();
    w->stream = cm_stream_new(w->sb->loop, take_socket, take_socket, &stream_events, w);
    cm_sandbox__sample(w->sb, START_SAMPLE_MS);
}

bool cm_worker__send(struct cm_worker *w, enum cm_frame_type type, uint8_t flags, uint32_t id,
                     const struct cm_str *parts, size_t n_parts)
{
    struct cm_buf *queue = w->stream ? cm_stream_begin(w->stream) : NULL;

    if (!queue)
        return true;
    cm_wire_encode(queue, type, flags, id, parts, n_parts);
    return cm_stream_send(w->stream, NULL) == CM_OK;
}

bool cm_worker__send_bytes(struct cm_worker *w, struct cm_str bytes)
{
    struct cm_buf *queue = w->stream ? cm_stream_begin(w->stream) : NULL;

    if (!queue)
        return true;
    cm_buf_add_str(queue, bytes);
    return cm_stream_send(w->stream, NULL) == CM_OK;
}

static bool set_soft_limit(pid_t pid, __rlimit_resource_t resource, rlim_t soft)
{
    struct rlimit l;

    if (soft == 0)
        return true;
    if (prlimit(pid, resource, NULL, &l) != 0)
        return false;
    l.rlim_cur = soft < l.rlim_max ? soft : l.rlim_max;
    return prlimit(pid, resource, &l, NULL) == 0;
}

void cm_worker__limit(struct cm_worker *w, uint64_t data_kb, uint64_t cpu_s)
{
    if (w->exited || w->pid <= 0)
        return;
    if (set_soft_limit(w->pid, RLIMIT_DATA, (rlim_t)data_kb << 10) &&
        set_soft_limit(w->pid, RLIMIT_CPU, cpu_s))
        return;
    /* Root without CAP_SYS_RESOURCE (a container) may not limit the unprivileged worker; its parent may. */
    const struct cm_control_msg m = {
        .type = CM_CONTROL_LIMIT, .serial = w->serial, .vmdata_kb = data_kb, .cpu_us = cpu_s * 1000000};
    (void)cm_control__send(w->sb, &m);
}

/**
 * The engine keeps address space that it had once, and much of it cannot serve another purpose. So what is there now is no part of
 * what the next pass may use: it has all of its limit.
 */
static void set_base(struct cm_worker *w, const struct cm_memory_use *use)
{
    w->base_anon_kb = use->anon_kb > w->start.anon_kb ? use->anon_kb : w->start.anon_kb;
    if (w->vmdata_kb)
        w->base_kb = use->data_kb > w->vmdata_kb ? use->data_kb : w->vmdata_kb;
}

static void on_hello(struct cm_worker *w, const struct cm_frame *f)
{
    if (!cm_str_eq_z(f->parts[0], CM_WIRE_VERSION)) {
        cm_sandbox__worker_failed(
            w->sb,
            "the worker program speaks another version of the wire format: install both from one build");
        cm_worker__kill(w);
        return;
    }
    const struct cm_str version = CM_STR(CM_WIRE_VERSION);
    (void)cm_worker__send(w, CM_FRAME_HELLO, 0, 0, &version, 1);
    w->sb->n_worker_failures = 0;
    w->sb->zygote.n_failures = 0;
    w->sb->zygote.made_worker = true;
    w->start = cm_worker__memory(w);
    set_base(w, &w->start);
    w->state = CM_WORKER_READY;
    cm_sandbox__wake(w->sb);
}

void cm_worker__tidy(struct cm_worker *w)
{
    w->pass = NULL;
    w->state = CM_WORKER_TIDYING;
    w->since_ms = cm_mono_ms();
    cm_sandbox__sample(w->sb, TIDY_SAMPLE_MS);
}

void cm_worker__kill_unfit(struct cm_worker *w)
{
    if (w->retire || w->sb->one_pass_each)
        cm_worker__kill(w);
}

uint32_t cm_worker__count_free(const cm_sandbox *sb, const struct cm_lane *lane)
{
    uint32_t n = 0;

    for (const struct cm_worker *w = sb->workers; w; w = w->next)
        n += w->lane == lane && (w->state == CM_WORKER_READY || w->state == CM_WORKER_TIDYING);
    return n;
}

/** Where data is not limited it may not be a program's either: a sanitizer's shadow. There only what is resident tells. */
static bool has_outgrown_its_start(const struct cm_worker *w, const struct cm_memory_use *now)
{
    bool limited = (w->sb->zygote.layers & (UINT64_C(1) << CM_LAYER_MEMORY)) != 0;

    return limited ? now->data_kb > w->start.data_kb + IDLE_GROWTH_KB ||
                         now->anon_kb > w->start.anon_kb + IDLE_GROWTH_KB
                   : now->anon_kb > w->start.anon_kb + IDLE_ANON_GROWTH_KB;
}

static void on_idle(struct cm_worker *w, const struct cm_frame *f)
{
    (void)f;
    struct cm_memory_use use = cm_worker__memory(w);

    if (has_outgrown_its_start(w, &use))
        w->retire = true;
    set_base(w, &use);
    w->state = CM_WORKER_READY;
    if (!cm_worker__is_fit(w))
        cm_worker__kill(w);
    cm_sandbox__wake(w->sb);
}

static void on_pass_frame(struct cm_worker *w, const struct cm_frame *f)
{
    cm_pass__frame(w->pass, f);
}

bool cm_worker__is_fit(const struct cm_worker *w)
{
    const struct cm_sandbox_opts *o = &w->sb->opts;
    uint32_t max_runs = w->sb->one_pass_each ? 1 : o->runs_per_worker ? o->runs_per_worker : RUNS_DEFAULT;
    uint32_t max_age = o->worker_age_ms ? o->worker_age_ms : AGE_DEFAULT_MS;

    /* One that nobody has used carries nothing on, however old: an age below the time of a start must not mean no worker at all. */
    return !w->retire && w->n_runs < max_runs && (w->n_runs == 0 || cm_mono_ms() - w->born_ms < max_age);
}

uint64_t cm_worker__cpu_us(const struct cm_worker *w)
{
    struct timespec t;

    if (w->exited && w->exit.type)
        return w->exit.cpu_us;
    if (!w->has_cpu_clock || clock_gettime(w->cpu_clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/** The next number of a line of numbers, and the line behind it. False: there is none. */
static bool next_number(struct cm_str *line, int64_t *out)
{
    size_t len = 0;

    while (len < line->len && line->ptr[len] != ' ' && line->ptr[len] != '\n')
        len++;
    if (len == line->len || cm_parse_i64(cm_str_mk(line->ptr, len), out, NULL) != CM_OK)
        return false;
    *line = cm_str_mk(line->ptr + len + 1, line->len - len - 1);
    return true;
}

/** The first n numbers of a file of its folder in /proc that is one line. False: there are not so many, or one is negative. */
static bool read_numbers(const struct cm_worker *w, const char *file, int64_t *numbers, size_t n)
{
    char path[64];
    char text[256];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)w->pid, file);
    cm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
    struct cm_str line = {text, got > 0 ? (size_t)got : 0};
    for (size_t i = 0; i < n; i++) {
        if (!next_number(&line, &numbers[i]) || numbers[i] < 0)
            return false;
    }
    return true;
}

int64_t cm_worker__starved_ms(const struct cm_worker *w)
{
    enum { RAN, STARVED, N_FIELDS }; /* nanoseconds */
    int64_t ns[N_FIELDS];

    return read_numbers(w, "schedstat", ns, N_FIELDS) ? ns[STARVED] / 1000000 : 0;
}

struct cm_memory_use cm_worker__memory(const struct cm_worker *w)
{
    enum { SIZE, RESIDENT, SHARED, TEXT, LIBRARIES, DATA, N_FIELDS };
    const uint64_t page_kb = (uint64_t)sysconf(_SC_PAGESIZE) >> 10;
    int64_t pages[N_FIELDS];

    if (!read_numbers(w, "statm", pages, N_FIELDS))
        return (struct cm_memory_use){0};
    if (pages[SHARED] > pages[RESIDENT])
        pages[SHARED] = pages[RESIDENT];
    return (struct cm_memory_use){.resident_kb = (uint64_t)pages[RESIDENT] * page_kb,
                                  .anon_kb = (uint64_t)(pages[RESIDENT] - pages[SHARED]) * page_kb,
                                  .data_kb = (uint64_t)pages[DATA] * page_kb};
}
