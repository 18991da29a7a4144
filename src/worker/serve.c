/*
 * The pass loop of one worker: frames in, engine, frames out. Blocking and single-threaded. A console line
 * goes out before the call that wrote it returns, so a killed pass leaves its log behind, and with it goes all
 * that came before. Other frames go out together, with the WAIT or DONE of their turn: a turn takes one write.
 * As in every event loop, what a program asks for is asked when its turn ends; but where outcomes or frames
 * follow each other for longer than LATEST_US, what waits goes out first, so that the host works meanwhile.
 *
 *   starting ─HELLO→ ready ─RUN→ running ─WAIT ⇄ OUTCOME─ DONE→ (free, collect, prepare) ─IDLE→ idle ─RUN→ …
 *                                         waiting ─DROP→ (the same, and no DONE)
 *
 * One WAIT is sent when the program first stands still and one after each OUTCOME that leaves it standing, so
 * the host knows how far the worker is by counting: it waits when there were as many WAITs as RUN and OUTCOMEs
 * together. The state table stands in wire/wire.h; a host that breaks it is not our host any more, and the
 * process ends.
 */
#include "worker/worker.h"

#include "worker/garbage.h"
#include "worker/memory.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/processors.h"
#include "wire/control.h"
#include "wire/wire.h"
#include "json/json.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES    65536
#define SEND_BYTES    65536      /* frames that go out at once, however young */
#define LATEST_US     200        /* a frame that other frames follow waits no longer than that */
#define KEEP_BYTES    (1U << 20) /* a buffer larger than this is given back after its frame */
#define EXIT_PROTOCOL 3

/* The engine may not include the wire; its prelude has these numbers in js/prelude/state.js. */
_Static_assert(CM_CALL_TOOL == 0 && CM_CALL_STEP == 1 && CM_CALL_SEARCH == 2 && CM_CALL_DESCRIBE == 3 &&
                   CM_CALL_TIMER == 4 && CM_CALL_RUN == 5 && CM_CALL_KIND_COUNT_ == 6,
               "kinds of call");
_Static_assert(CM_LOG_LOG == 0 && CM_LOG_INFO == 1 && CM_LOG_WARN == 2 && CM_LOG_ERROR == 3 &&
                   CM_LOG_DEBUG == 4,
               "levels of the log");

struct serve {
    const struct cm_worker_opts *opts;
    cm_engine *engine;
    int fd;
    struct cm_buf in;
    size_t in_used; /* bytes of `in` that the last frame stood in */
    struct cm_buf out;
    int64_t out_since_us; /* when its first frame was made */
    bool runs_program;    /* a pass waits for its outcomes */
    bool comes_soon;      /* the last outcome did */
    char *runtime;        /* whose worker it is; NULL until the first BIND */
    char *bind;
    size_t bind_len;
    struct cm_garbage garbage;
};

static _Noreturn void leave(int status)
{
    _exit(status);
}

static _Noreturn void broken(const struct cm_err *err)
{
    /* Standard error may be closed; whoever runs a worker by hand sees the reason. */
    (void)fprintf(stderr, "codemode-worker: %s\n", err->message);
    leave(EXIT_PROTOCOL);
}

static void flush(struct serve *s)
{
    size_t at = 0;

    if (s->out.len == 0)
        return;
    while (at < s->out.len) {
        ssize_t n = send(s->fd, s->out.ptr + at, s->out.len - at, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            leave(0); /* the host is gone */
        at += (size_t)n;
    }
    if (s->out.cap > KEEP_BYTES) {
        cm_buf_done(&s->out);
        s->out = CM_BUF_INIT(CM_FRAME_MAX_BYTES + CM_WIRE_HEADER_BYTES);
    } else {
        cm_buf_clear(&s->out);
    }
}

/**
 * A frame that cannot be made. One that is larger than any may be is announced by its header alone, at
 * which the host ends the pass with the limit's name; otherwise it is memory that is short, and that is
 * told by the exit status.
 */
static _Noreturn void give_up_frame(struct serve *s, enum cm_frame_type type, uint8_t flags, uint32_t id,
                                    const struct cm_str *parts, size_t n_parts)
{
    uint64_t len = 4 * n_parts;
    char header[CM_WIRE_HEADER_BYTES] = {0};

    for (size_t i = 0; i < n_parts; i++)
        len += parts[i].len;
    if (len <= CM_FRAME_MAX_BYTES)
        leave(CM_EXIT_MEMORY);
    cm_wire_put_u32(header, len < UINT32_MAX ? (uint32_t)len : UINT32_MAX);
    header[4] = (char)type;
    header[5] = (char)flags;
    cm_wire_put_u32(header + 8, id);
    cm_buf_done(&s->out);
    s->out = CM_BUF_INIT(sizeof(header));
    cm_buf_add(&s->out, header, sizeof(header));
    flush(s);
    while (recv(s->fd, header, sizeof(header), 0) > 0) {
    }
    leave(0);
}

static void flush_if_late(struct serve *s)
{
    if (s->out.len >= SEND_BYTES || (s->out.len && cm_mono_us() - s->out_since_us >= LATEST_US))
        flush(s);
}

/** Into the buffer: it goes out with what follows, or now, where others have waited for it too long. */
static void put_frame(struct serve *s, enum cm_frame_type type, uint8_t flags, uint32_t id,
                      const struct cm_str *parts, size_t n_parts)
{
    bool others_wait = s->out.len > 0;

    if (!others_wait)
        s->out_since_us = cm_mono_us();
    cm_wire_encode(&s->out, type, flags, id, parts, n_parts);
    if (s->out.failed && others_wait) {
        flush(s); /* it may be what stands before it that takes the room */
        cm_wire_encode(&s->out, type, flags, id, parts, n_parts);
    }
    if (s->out.failed)
        give_up_frame(s, type, flags, id, parts, n_parts);
    if (others_wait)
        flush_if_late(s);
}

static void send_frame(struct serve *s, enum cm_frame_type type, uint8_t flags, uint32_t id,
                       const struct cm_str *parts, size_t n_parts)
{
    put_frame(s, type, flags, id, parts, n_parts);
    flush(s);
}

/* ---- the program's side ---- */

static void on_call(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                    struct cm_value args, struct cm_call_place at)
{
    char kind_byte = (char)kind, place[12];
    struct cm_str parts[] = {{&kind_byte, 1}, connector,  method,
                             args.json,       args.marks, {place, sizeof(place)}};

    cm_wire_put_u32(place, at.line);
    cm_wire_put_u32(place + 4, at.column);
    cm_wire_put_u32(place + 8, at.step);
    put_frame(user, CM_FRAME_CALL, 0, id, parts, CM_ARRAY_LEN(parts));
}

static void on_step_end(void *user, uint32_t id, bool failed, struct cm_value value)
{
    struct cm_str parts[] = {value.json, value.marks};

    put_frame(user, CM_FRAME_STEP, failed ? CM_FRAME_ERROR : 0, id, parts, CM_ARRAY_LEN(parts));
}

static void on_log(void *user, unsigned level, struct cm_str text)
{
    char level_byte = (char)level;
    struct cm_str parts[] = {{&level_byte, 1}, text};

    send_frame(user, CM_FRAME_LOG, 0, 0, parts, CM_ARRAY_LEN(parts));
}

static void on_cancel(void *user, uint32_t id)
{
    put_frame(user, CM_FRAME_CANCEL, 0, id, NULL, 0);
}

static const struct cm_realm_host realm_host = {on_call, on_step_end, on_log, on_cancel};

/* ---- frames in ---- */

/** How much to read next: of a frame whose header is there, all of it, so that it is copied to its place once. */
static size_t wanted(const struct cm_buf *in)
{
    size_t whole =
        in->len < CM_WIRE_HEADER_BYTES ? 0 : CM_WIRE_HEADER_BYTES + (size_t)cm_wire_get_u32(in->ptr);

    return whole > in->len + READ_BYTES ? whole - in->len : READ_BYTES;
}

/* To the host, should it want this very processor. errno stays. */
static void give_way(void)
{
    int eno = errno;

    (void)sched_yield();
    errno = eno;
}

/*
 * Going to sleep and being woken takes longer than most tools of the host's own process do. So where outcomes come at once the next one is
 * looked for, for a moment, before the process sleeps. Where one did not come soon the next is not looked for: a program that waits
 * for the network, or beside many others, takes no processor from them.
 */
static ssize_t receive(struct serve *s, char *room, size_t size)
{
    int64_t from = 0;
    ssize_t n = -1;

    if (!s->runs_program || !s->opts->may_look)
        return recv(s->fd, room, size, 0);
    from = cm_mono_us();
    errno = EAGAIN;
    while (s->comes_soon && n < 0 && errno == EAGAIN && cm_mono_us() - from < CM_LOOK_US) {
        n = recv(s->fd, room, size, MSG_DONTWAIT);
        if (n < 0)
            give_way();
    }
    if (n < 0 && errno == EAGAIN)
        n = recv(s->fd, room, size, 0);
    s->comes_soon = cm_mono_us() - from < CM_SOON_US;
    return n;
}

/* The next frame, which borrows s->in until the next call. False: the host hung up. */
static bool next_frame(struct serve *s, struct cm_frame *f)
{
    struct cm_err err = {0};

    cm_buf_drop_front(&s->in, s->in_used);
    s->in_used = 0;
    if (s->in.len == 0 && s->in.cap > KEEP_BYTES) {
        cm_buf_done(&s->in);
        s->in = CM_BUF_INIT(CM_FRAME_MAX_BYTES + READ_BYTES + CM_WIRE_HEADER_BYTES);
    }
    for (;;) {
        size_t size;
        char *room;
        ssize_t n;

        if (cm_wire_decode(s->in.ptr, s->in.len, CM_FRAME_MAX_BYTES, f, &s->in_used, &err) != CM_OK)
            broken(&err);
        if (s->in_used > 0)
            break;
        flush(s); /* before anything is waited for */
        size = wanted(&s->in);
        room = cm_buf_reserve(&s->in, size);
        if (!room) {
            (void)cm_buf_check(&s->in, "a frame", &err);
            broken(&err);
        }
        n = receive(s, room, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s->in.len += (size_t)n;
    }
    s->garbage.text_taken += s->in_used;
    flush_if_late(s);
    if (cm_wire_is_from_worker((unsigned)f->type) && f->type != CM_FRAME_HELLO) {
        (void)cm_err_set(&err, CM_E_PROTOCOL, "the host sent a frame 0x%02x, which only a worker sends",
                         (unsigned)f->type);
        broken(&err);
    }
    return true;
}

static _Noreturn void unexpected(const struct cm_frame *f, const char *state)
{
    struct cm_err err;

    (void)cm_err_set(&err, CM_E_PROTOCOL, "frame 0x%02x is not allowed while %s", (unsigned)f->type, state);
    broken(&err);
}

static bool greet(struct serve *s)
{
    struct cm_str version = CM_STR(CM_WIRE_VERSION);
    struct cm_frame f;
    struct cm_err err;

    send_frame(s, CM_FRAME_HELLO, 0, 0, &version, 1);
    if (!next_frame(s, &f))
        return false;
    if (f.type != CM_FRAME_HELLO)
        unexpected(&f, "starting");
    if (!cm_str_eq(f.parts[0], version)) {
        (void)cm_err_set(&err, CM_E_PROTOCOL, "the host speaks version '%.*s', this worker '%s'",
                         CM_STR_ARG(f.parts[0]), CM_WIRE_VERSION);
        broken(&err);
    }
    return true;
}

/* ---- a pass ---- */

struct run_meta {
    uint8_t seed[16];
    int64_t now_ms;
    uint32_t stack_kb;
    bool normalize;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static cm_status read_meta(struct cm_str text, struct run_meta *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *root, *now;
    struct cm_str seed;
    const char *mode;
    cm_status st = cm_json_parse(text, CM_JSON_STRICT, &doc, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "RUN's meta");
    root = yyjson_doc_get_root(doc);
    seed = cm_json_str(cm_json_get(root, "seed"));
    now = cm_json_get(root, "now");
    mode = cm_json_get_z(root, "mode");
    if (seed.len != 32 || !yyjson_is_int(now))
        return cm_err_set(err, CM_E_PROTOCOL,
                          "RUN's meta needs a seed of 32 hex digits and now, a whole number");
    for (size_t i = 0; i < 16; i++) {
        int high = hex_digit(seed.ptr[2 * i]), low = hex_digit(seed.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return cm_err_set(err, CM_E_PROTOCOL, "RUN's seed is not hex: '%.*s'", CM_STR_ARG(seed));
        out->seed[i] = (uint8_t)(high << 4 | low);
    }
    out->now_ms = yyjson_get_sint(now);
    out->stack_kb = (uint32_t)yyjson_get_uint(cm_json_get(root, "stackKb"));
    out->normalize = mode && cm_z_eq(mode, "normalize");
    return CM_OK;
}

static void send_done(struct serve *s, bool failed, struct cm_value value, struct cm_str meta)
{
    struct cm_str parts[] = {value.json, value.marks, meta};

    send_frame(s, CM_FRAME_DONE, failed ? CM_FRAME_ERROR : 0, 0, parts, CM_ARRAY_LEN(parts));
}

/* The engine itself failed: say so as the end of the pass, and do not go on with such an engine. */
static _Noreturn void send_engine_failure(struct serve *s, const struct cm_err *err)
{
    cm_autobuf meta = CM_BUF_INIT(4 * CM_ERR_MAX_BYTES + 256);

    cm_buf_add_z(&meta, "{\"error\":{\"name\":\"InternalError\",\"code\":\"internal\",\"message\":");
    cm_json_write_string(&meta, cm_str_of(err->message));
    cm_buf_add_z(&meta, "}}");
    send_done(s, true, (struct cm_value){CM_STR(""), CM_STR("")}, cm_buf_str(&meta));
    leave(1);
}

static void normalize(struct serve *s, struct cm_str source)
{
    cm_autofree char *text = NULL, *meta = NULL;
    cm_autobuf json = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    struct cm_err err;
    size_t len = 0;
    cm_status st =
        cm_engine_normalize(s->engine, source, cm_str_mk(s->bind, s->bind_len), &text, &len, &meta, &err);

    if (st != CM_OK && !meta)
        send_engine_failure(s, &err);
    if (st == CM_OK)
        cm_json_write_string(&json, cm_str_mk(text, len));
    send_done(s, st != CM_OK, (struct cm_value){cm_buf_str(&json), CM_STR("")},
              meta ? cm_str_of(meta) : CM_STR("{}"));
}

/* What is sent while it stands still says whether the program has ended. */
static void send_wait(struct serve *s, const cm_realm *r)
{
    bool failed = false;
    bool ended = cm_realm_has_ended(r, &failed);

    put_frame(s, CM_FRAME_WAIT,
              (uint8_t)((ended ? CM_FRAME_ENDED : 0) | (ended && failed ? CM_FRAME_ERROR : 0)), 0, NULL, 0);
}

static void finish(cm_realm *r)
{
    struct cm_err err;

    if (cm_realm_finish(r, &err) != CM_OK)
        broken(&err);
}

static void deliver(struct serve *s, cm_realm *r, const struct cm_frame *f)
{
    struct cm_value value = {f->parts[1], f->parts[2]};
    struct cm_err err;
    cm_status st = cm_realm_deliver(
        r, f->id, (f->flags & CM_FRAME_ERROR) != 0, (f->flags & CM_FRAME_EXECUTE) != 0, value,
        (int64_t)cm_wire_get_u64(f->parts[0].ptr), cm_wire_get_u32(f->parts[0].ptr + 8), &err);

    if (st == CM_E_PROTOCOL)
        broken(&err);
    if (st != CM_OK)
        send_engine_failure(s, &err);
}

/* False: the host hung up. */
static bool run(struct serve *s, const struct cm_frame *f, const struct run_meta *meta)
{
    cm_auto(cm_realm) r = NULL;
    struct cm_realm_opts opts = {
        .source = f->parts[1],
        .bind_json = {s->bind, s->bind_len},
        .input = {f->parts[2], f->parts[3]},
        .now_ms = meta->now_ms,
        .stack_kb = meta->stack_kb,
        .host = &realm_host,
        .user = s,
    };
    struct cm_frame next;
    struct cm_err err;

    memcpy(opts.seed, meta->seed, sizeof(opts.seed));
    s->comes_soon = true;
    cm_memory_begin_run();
    if (cm_realm_start(s->engine, &opts, &r, &err) != CM_OK)
        send_engine_failure(s, &err);
    while (cm_realm_state(r) == CM_REALM_WAITING) {
        send_wait(s, r);
        s->runs_program = true;
        if (!next_frame(s, &next))
            return false;
        s->runs_program = false;
        if (next.type == CM_FRAME_DROP)
            return true; /* as after its end, nothing of it is left that could run: the realm goes */
        if (next.type == CM_FRAME_FINISH)
            finish(r);
        else if (next.type == CM_FRAME_OUTCOME)
            deliver(s, r, &next);
        else
            unexpected(&next, "waiting");
    }
    send_done(s, cm_realm_result(r)->failed, cm_realm_result(r)->value, cm_realm_result(r)->meta_json);
    return true;
}

/* A VM of its own for the next pass: nothing of the last one is left, not even compiled code. */
static void renew_engine(struct serve *s)
{
    struct cm_err err;

    cm_engine_free(s->engine);
    s->engine = NULL;
    if (cm_engine_new(&s->opts->engine, &s->engine, &err) != CM_OK)
        broken(&err);
    (void)cm_memory_watch();
}

/* Between passes: garbage where there is enough of it, and the realm that the next pass takes. */
static void tidy(struct serve *s)
{
    if (s->opts->vm_per_pass)
        renew_engine(s);
    else
        cm_garbage_collect(&s->garbage, s->engine);
    cm_engine_prepare_realm(s->engine);
    send_frame(s, CM_FRAME_IDLE, 0, 0, NULL, 0);
}

/*
 * A worker belongs to the runtime of its first BIND. The host keeps to that; should it ever fail to, no program of one runtime meets
 * what programs of another left in this process.
 */
static void bind_to(struct serve *s, struct cm_str runtime)
{
    struct cm_err err;

    if (!s->runtime)
        s->runtime = cm_memdup_z(runtime.ptr, runtime.len);
    if (cm_str_eq_z(runtime, s->runtime))
        return;
    (void)cm_err_set(&err, CM_E_PROTOCOL, "a BIND to runtime '%.*s' for a worker of '%s'",
                     CM_STR_ARG(runtime), s->runtime);
    broken(&err);
}

static void keep_bind(struct serve *s, struct cm_str json)
{
    char *copy = cm_try_malloc(json.len + 1);
    struct cm_err err;

    if (!copy) {
        (void)cm_err_set(&err, CM_E_NOMEM, "BIND of %zu bytes: out of memory", json.len);
        broken(&err);
    }
    memcpy(copy, json.ptr, json.len);
    copy[json.len] = '\0';
    free(s->bind);
    s->bind = copy;
    s->bind_len = json.len;
}

/* One frame of the states ready and idle. False: the host hung up. */
static bool serve_one(struct serve *s, const struct cm_frame *f)
{
    struct run_meta meta = {0};
    struct cm_err err;
    bool alive = true;

    if (f->type == CM_FRAME_BIND) {
        bind_to(s, f->parts[0]);
        keep_bind(s, f->parts[1]);
        return true;
    }
    /* What crossed DONE on its way: the program ended without waiting for it. */
    if (f->type == CM_FRAME_OUTCOME || f->type == CM_FRAME_FINISH)
        return true;
    if (f->type != CM_FRAME_RUN)
        unexpected(f, "idle");
    if (!s->runtime)
        unexpected(f, "it belongs to no runtime");
    if (read_meta(f->parts[0], &meta, &err) != CM_OK)
        broken(&err);
    if (meta.normalize)
        normalize(s, f->parts[1]);
    else
        alive = run(s, f, &meta);
    if (alive)
        tidy(s);
    return alive;
}

void cm_worker_serve(const struct cm_worker_opts *opts, cm_engine *take_engine, int fd)
{
    struct serve s = {
        .opts = opts,
        .engine = take_engine,
        .fd = fd,
        .in = CM_BUF_INIT(CM_FRAME_MAX_BYTES + READ_BYTES + CM_WIRE_HEADER_BYTES),
        .out = CM_BUF_INIT(CM_FRAME_MAX_BYTES + CM_WIRE_HEADER_BYTES),
    };
    struct cm_frame f;
    cm_garbage_begin(&s.garbage);
    bool alive = greet(&s);

    while (alive && next_frame(&s, &f))
        alive = serve_one(&s, &f);
    cm_buf_done(&s.in);
    cm_buf_done(&s.out);
    free(s.bind);
    free(s.runtime);
}
