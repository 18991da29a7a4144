/* A hostile worker: the host's side of up to three passes, fed from bytes, without a process. Five bytes say how the host and the
 * end behave (struct plan), the rest is what the worker sends: as it is, or as frames in short form, which are always well formed
 * and so get further. Whatever comes, each pass ends exactly once and nothing is said of it afterwards; calls are numbered densely,
 * and no more of them are open than the limits allow; console lines are text within their limit; and a worker that broke the rules gets no
 * other pass. */
#include "fuzz.h"
#include "sandbox/internal.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <sys/socket.h>
#include <sys/wait.h>

#define PASSES_MAX     3
#define CALLS_MAX      8
#define TIMERS_MAX     4
#define LOG_MAX_BYTES  64
#define NOTE_MAX_BYTES 160
#define FRAME_BYTES    4096

struct plan {
    uint8_t n_passes; /* 1 to 3 */
    uint8_t chunk;    /* bytes that come at once; 0: all of them */
    uint8_t host;     /* when calls are answered */
    uint8_t form;     /* bit 0: raw bytes; bit 1: no HELLO is put before */
    uint8_t end;      /* of the worker */
};

struct world;

struct guest {
    struct world *world;
    cm_pass *pass;
    bool started, ended;
    uint32_t last_id;
    uint8_t open[256]; /* by id: enum open_state */
    size_t log_bytes, n_logs;
};

enum open_state { NOT_OPEN, OPEN_CALL, OPEN_TIMER, OPEN_STEP, STEP_RUNS };

struct world {
    struct plan plan;
    struct cm_sandbox *sb;
    struct guest guests[PASSES_MAX];
};

static void answer(struct guest *g, uint32_t id, struct cm_value value)
{
    bool execute = g->open[id] == OPEN_STEP && ((g->world->plan.host >> 2) & 1) == 0;

    g->open[id] = execute ? STEP_RUNS : NOT_OPEN;
    cm_pass_deliver(g->pass, id, (id & 1) != 0, execute, value, 1700000000000 + id, id);
}

static bool is_owed(const struct guest *g, uint32_t id)
{
    return g->open[id] != NOT_OPEN && g->open[id] != STEP_RUNS;
}

static void answer_open(struct guest *g)
{
    for (uint32_t id = 1; id <= g->last_id && id < CM_ARRAY_LEN(g->open) && !g->ended; id++)
        if (is_owed(g, id))
            answer(g, id, (struct cm_value){CM_STR("null"), CM_STR("{\"\":\"undefined\"}")});
}

static void on_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    struct guest *g = user;
    size_t n_open = 0;

    (void)connector, (void)method, (void)at;
    CM_MUST(g->pass == p && !g->ended && kind < CM_CALL_KIND_COUNT_);
    CM_MUST(id == ++g->last_id);
    if (id >= CM_ARRAY_LEN(g->open)) {
        cm_pass_stop(p, CM_PASS_CANCELLED, "cancelled", "enough");
        return;
    }
    g->open[id] = kind == CM_CALL_STEP ? OPEN_STEP : kind == CM_CALL_TIMER ? OPEN_TIMER : OPEN_CALL;
    for (uint32_t i = 1; i <= id; i++)
        n_open += g->open[i] != NOT_OPEN;
    CM_MUST(n_open <= CALLS_MAX + TIMERS_MAX);
    if (((g->world->plan.host + id) & 3) == 0)
        answer(g, id, args);
}

static void on_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct guest *g = user;

    (void)failed;
    CM_MUST(g->pass == p && !g->ended && id <= g->last_id && g->open[id] == STEP_RUNS);
    g->open[id] = NOT_OPEN;
    cm_pass_deliver(p, id, failed, false, value, 1700000000000, 1);
}

static void on_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    struct guest *g = user;

    CM_MUST(g->pass == p && !g->ended && level < CM_LOG_LEVEL_COUNT_);
    CM_MUST(cm_utf8_valid_prefix(text) == text.len);
    g->log_bytes += text.len;
    CM_MUST(g->log_bytes <= 3 * LOG_MAX_BYTES + NOTE_MAX_BYTES); /* a byte that is no text becomes three */
    if (++g->n_logs == 7 && (g->world->plan.host & 8))
        cm_pass_stop(p, CM_PASS_LIMIT, "test", "enough");
}

static void on_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    struct guest *g = user;
    uint32_t n = 0;

    CM_MUST(g->pass == p && !g->ended && outstanding > 0);
    for (uint32_t id = 1; id <= g->last_id && id < CM_ARRAY_LEN(g->open); id++)
        n += is_owed(g, id);
    CM_MUST(outstanding == n);
    if (g->world->plan.host & 16)
        answer_open(g);
    if ((g->world->plan.host & 64) && !g->ended)
        cm_pass_stop(p, CM_PASS_CANCELLED, "cancelled", "enough");
}

static void on_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct guest *g = user;

    CM_MUST(g->pass == p && !g->ended);
    CM_MUST(end->kind == CM_PASS_COMPLETED || end->kind == CM_PASS_THREW || (*end->code && *end->message));
    g->ended = true;
}

static void on_cancel(void *user, cm_pass *p, uint32_t id)
{
    struct guest *g = user;

    CM_MUST(g->pass == p && !g->ended && id <= g->last_id);
    CM_MUST(g->open[id] == OPEN_TIMER || g->open[id] == OPEN_CALL);
    if (g->open[id] == OPEN_TIMER)
        g->open[id] = NOT_OPEN; /* a call is owed its answer all the same */
}

static const struct cm_pass_events events = {on_call, on_step_end, on_log, on_wait, on_end, on_cancel};

static void start_passes(struct world *w)
{
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    struct cm_pass_spec spec = {.runtime = "fuzz", .source = CM_STR("1"), .now_ms = 1700000000000};

    limits.calls_in_flight = CALLS_MAX;
    limits.timers = TIMERS_MAX;
    limits.log_bytes = LOG_MAX_BYTES;
    limits.frame_bytes = FRAME_BYTES;
    spec.limits = limits;
    for (size_t i = 0; i < w->plan.n_passes; i++) {
        struct guest *g = &w->guests[i];
        g->world = w;
        g->started = cm_sandbox_start(w->sb, &spec, &events, g, &g->pass, NULL) == CM_OK;
        CM_MUST(g->started);
    }
}

static void add_u32(struct cm_buf *out, size_t n)
{
    char bytes[4];

    cm_wire_put_u32(bytes, (uint32_t)n);
    cm_buf_add(out, bytes, sizeof(bytes));
}

/* The next frame in short form: type, flags, id and, for each part, its length before its bytes. The encoder is none of ours: it asserts
 * what a worker may break. */
static void add_short_frame(struct cm_buf *out, struct cm_str *in)
{
    static const enum cm_frame_type types[] = {CM_FRAME_CALL, CM_FRAME_STEP,   CM_FRAME_LOG,  CM_FRAME_WAIT,
                                               CM_FRAME_DONE, CM_FRAME_CANCEL, CM_FRAME_IDLE, CM_FRAME_HELLO};
    enum cm_frame_type type = types[(unsigned char)in->ptr[0] % CM_ARRAY_LEN(types)];
    bool has_id = type == CM_FRAME_CALL || type == CM_FRAME_STEP || type == CM_FRAME_CANCEL;
    int n_parts = cm_wire_part_count(type);
    cm_autobuf payload = CM_BUF_INIT(1u << 16);
    size_t at = 3;

    for (int i = 0; i < n_parts; i++) {
        size_t len = at < in->len ? (unsigned char)in->ptr[at++] : 0;
        if (len > in->len - at)
            len = in->len - at;
        add_u32(&payload, len);
        cm_buf_add(&payload, in->ptr + at, len);
        at += len;
    }
    const char head[] = {(char)type, in->ptr[1], 0, 0};
    add_u32(out, payload.len);
    cm_buf_add(out, head, sizeof(head));
    add_u32(out, has_id ? (unsigned char)in->ptr[2] : 0);
    cm_buf_add_str(out, cm_buf_str(&payload));
    *in = cm_str_mk(in->ptr + at, in->len - at);
}

static void write_script(const struct plan *plan, struct cm_buf *out, struct cm_str in)
{
    static const struct cm_str version = CM_STR(CM_WIRE_VERSION);

    if (!(plan->form & 2))
        cm_wire_encode(out, CM_FRAME_HELLO, 0, 0, &version, 1);
    if (plan->form & 1)
        cm_buf_add_str(out, in);
    while (!(plan->form & 1) && in.len >= 3)
        add_short_frame(out, &in);
}

/* Everything that the host has to say goes nowhere; it must not fill the socket. */
static void drain(int fd)
{
    char bytes[4096];

    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
}

static void turn(struct world *w, int fd)
{
    for (int i = 0; i < 4; i++)
        cm_loop_nowait(w->sb->loop);
    for (size_t i = 0; i < w->plan.n_passes; i++)
        if ((w->plan.host & 32) && !w->guests[i].ended)
            answer_open(&w->guests[i]);
    drain(fd);
}

static void send_script(struct world *w, struct cm_str script, int fd)
{
    while (script.len > 0) {
        size_t n = w->plan.chunk && w->plan.chunk < script.len ? w->plan.chunk : script.len;
        ssize_t sent = send(fd, script.ptr, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            return; /* the host has hung up */
        script = cm_str_mk(script.ptr + sent, script.len - (size_t)sent);
        turn(w, fd);
    }
}

static bool broke_rules(const struct world *w)
{
    for (size_t i = 0; i < w->plan.n_passes; i++)
        if (w->guests[i].pass && !w->guests[i].ended && w->guests[i].pass->verdict.kind == CM_PASS_PROTOCOL)
            return true;
    return false;
}

static void end_worker(struct world *w, int fd)
{
    static const int codes[][2] = {{CLD_EXITED, 0},  {CLD_KILLED, 9},  {CLD_DUMPED, 11},
                                   {CLD_EXITED, 60}, {CLD_EXITED, 62}, {CLD_EXITED, 64}};
    const int *how = codes[(w->plan.end >> 1) % CM_ARRAY_LEN(codes)];
    const struct cm_control_msg m = {
        .type = CM_CONTROL_EXITED, .serial = 1, .exit_code = how[0], .exit_status = how[1]};
    struct cm_worker *worker = cm_worker__find(w->sb, 1);

    if ((w->plan.end & 1) && worker)
        cm_worker__exited(worker, w->plan.end & 64 ? NULL : &m);
    (void)shutdown(fd, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        cm_loop_nowait(w->sb->loop);
    worker = cm_worker__find(w->sb, 1);
    if (worker && !worker->exited)
        cm_worker__exited(worker, w->plan.end & 64 ? NULL : &m);
    for (int i = 0; i < 4; i++)
        cm_loop_nowait(w->sb->loop);
}

static void converse(struct world *w, struct cm_str script)
{
    const struct cm_control_msg forked = {.type = CM_CONTROL_FORKED, .serial = 1};
    struct cm_worker *worker = cm_worker__new(w->sb, 1);
    int fds[2];

    CM_MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    w->sb->workers = worker;
    cm_worker__adopt(worker, &forked, fds[0], -1);
    start_passes(w);
    send_script(w, script, fds[1]);
    worker = cm_worker__find(w->sb, 1);
    CM_MUST(!broke_rules(w) || !worker || worker->state >= CM_WORKER_DYING);
    end_worker(w, fds[1]);
    (void)close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {0};
    cm_autobuf script = CM_BUF_INIT(1u << 20);
    cm_auto(cm_loop) loop = NULL;

    if (size < sizeof(w.plan))
        return 0;
    memcpy(&w.plan, data, sizeof(w.plan));
    w.plan.n_passes = 1 + w.plan.n_passes % PASSES_MAX;
    write_script(&w.plan, &script, cm_str_mk(data + sizeof(w.plan), size - sizeof(w.plan)));
    CM_MUST(cm_loop_new(&loop, NULL) == CM_OK);
    w.sb = cm_sandbox__make(loop, &(struct cm_sandbox_opts){.max_workers = 1, .pool_size = 1});
    converse(&w, cm_buf_str(&script));
    cm_sandbox_close(w.sb);
    for (size_t i = 0; i < w.plan.n_passes; i++)
        CM_MUST(w.guests[i].ended);
    return 0;
}
