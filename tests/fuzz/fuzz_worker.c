/* The worker's side: frames as no host sends them. A host is no threat; but whatever stands in a frame, the worker goes on, ends the
 * pass, or leaves with its own exit status, and each frame of its own is well formed. Programs of a RUN are taken from a list, since
 * one of the fuzzer's own would loop for ever; everything else in a frame is its.
 *
 * serve.c is compiled in here with the three calls by which it meets the world in our hands. */
#include "fuzz.h"

#include "engine/engine.h"
#include "worker/memory.h"

#include <setjmp.h>
#include <sys/socket.h>
#include <unistd.h>

static void world_leave(int status) __attribute__((noreturn));
static ssize_t world_recv(int fd, void *out, size_t n, int flags);
static ssize_t world_send(int fd, const void *bytes, size_t n, int flags);

static cm_status world_start(cm_engine *e, const struct cm_realm_opts *opts, cm_realm **out,
                             struct cm_err *err);

#define _exit                 world_leave
#define recv                  world_recv
#define send                  world_send
#define cm_realm_start        world_start
#define cm_memory_begin_run() ((void)0)
#define cm_memory_watch()     true
#define cm_memory_mapped()    ((size_t)0)
#undef fprintf                                             /* with some headers it is a macro already */
#define fprintf(stream, format, ...) ((void)(__VA_ARGS__)) /* the reason, a thousand times a second */
#include "worker/garbage.c"
#include "worker/serve.c"
#undef _exit
#undef recv
#undef send
#undef fprintf
#undef cm_realm_start

#define SENT_MAX_BYTES (4u << 20)

static struct {
    jmp_buf left;
    struct cm_str in;  /* what is still to be read */
    struct cm_buf out; /* what was sent and is not a whole frame yet */
    cm_realm *realm;   /* of the pass that runs, for when the worker leaves in the middle of it */
} world;

static cm_status world_start(cm_engine *e, const struct cm_realm_opts *opts, cm_realm **out,
                             struct cm_err *err)
{
    cm_status st = cm_realm_start(e, opts, out, err);

    world.realm = st == CM_OK ? *out : NULL;
    return st;
}

static void world_leave(int status)
{
    CM_MUST(status == 0 || status == 1 || status == EXIT_PROTOCOL);
    longjmp(world.left, 1);
}

static ssize_t world_recv(int fd, void *out, size_t n, int flags)
{
    (void)fd, (void)flags;
    if (n > world.in.len)
        n = world.in.len;
    memcpy(out, world.in.ptr, n);
    world.in = cm_str_mk(world.in.ptr + n, world.in.len - n);
    return (ssize_t)n;
}

static ssize_t world_send(int fd, const void *bytes, size_t n, int flags)
{
    size_t used = 1;

    (void)fd, (void)flags;
    cm_buf_add(&world.out, bytes, n);
    while (used > 0) {
        struct cm_frame f = {0};
        CM_MUST(cm_wire_decode(world.out.ptr, world.out.len, CM_FRAME_MAX_BYTES, &f, &used, NULL) == CM_OK);
        CM_MUST(used == 0 || cm_wire_is_from_worker((unsigned)f.type));
        if (used > 0 && f.type == CM_FRAME_IDLE)
            world.realm = NULL; /* freed when DONE was sent */
        cm_buf_drop_front(&world.out, used);
    }
    return (ssize_t)n;
}

static const char *const programs[] = {
    "demo.echo(input)",
    "const r = await Promise.allSettled([demo.echo(1), any.x(2), codemode.step('s', () => 3), "
    "codemode.search('q')]); r",
    "setTimeout(() => console.log(1), 5); const t = setTimeout(() => {}, 9); clearTimeout(t); await "
    "demo.list(); 2",
    "try { await demo.fail() } catch (e) { console.warn(e, e.cause); throw e }",
    "for (let i = 0; i < 3; i++) console.log(await demo.echo(i), Date.now(), Math.random());",
    "async (x) => x",
    "let y = ;",
    "new Promise(() => {})",
    "throw await demo.echo(undefined)",
    "await codemode.step('a', async () => { await demo.echo(new Map([[1, 2n]])); throw new TypeError('no') "
    "})",
    "return [await codemode.describe('demo.echo'), await codemode.run('s', 1)]",
};

/* Of a HELLO in the corpus: whatever it was when that was written, it is ours, so that a new one does not end all of it at the door. */
static const struct cm_str another_version = CM_STR("9");

/* The fuzzer's frames, with a program of ours in each RUN. */
static void write_frames(struct cm_buf *out, struct cm_str in)
{
    struct cm_frame f = {0};
    size_t used = 0;

    while (cm_wire_decode(in.ptr, in.len, CM_FRAME_MAX_BYTES, &f, &used, NULL) == CM_OK && used > 0) {
        if (f.type == CM_FRAME_HELLO && !cm_str_eq(f.parts[0], another_version)) {
            f.parts[0] = (struct cm_str)CM_STR(CM_WIRE_VERSION);
            cm_wire_encode(out, f.type, f.flags, f.id, f.parts, f.n_parts);
        } else if (f.type == CM_FRAME_RUN) {
            unsigned first = f.parts[1].len ? (unsigned char)f.parts[1].ptr[0] : 0;
            f.parts[1] = cm_str_of(programs[first % CM_ARRAY_LEN(programs)]);
            cm_wire_encode(out, f.type, f.flags, f.id, f.parts, f.n_parts);
        } else {
            cm_buf_add(out, in.ptr, used);
        }
        in = cm_str_mk(in.ptr + used, in.len - used);
    }
    /* A RUN that is not whole holds a program of nobody's: it is never complete. */
    cm_buf_add_str(out, in);
}

static cm_engine *make_engine(void)
{
    cm_engine *e = NULL;

    cm_engine_prepare_process(false);
    CM_MUST(cm_engine_new(&(struct cm_engine_opts){0}, &e, NULL) == CM_OK);
    return e;
}

/* As cm_worker_serve, with what it holds in our hands. */
static void serve(struct serve *s)
{
    struct cm_frame f;
    bool alive;

    if (setjmp(world.left) != 0) {
        cm_realm_free(cm_steal(&world.realm));
        return;
    }
    alive = greet(s);
    while (alive && next_frame(s, &f))
        alive = serve_one(s, &f);
    world.realm = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cm_worker_opts opts;
    static struct serve s;
    static cm_engine *engine;
    cm_autobuf frames = CM_BUF_INIT(1u << 20);

    if (!engine)
        engine = make_engine();
    write_frames(&frames, cm_str_mk(data, size));
    world.in = cm_buf_str(&frames);
    world.out = CM_BUF_INIT(SENT_MAX_BYTES);
    s = (struct serve){.opts = &opts,
                       .engine = engine,
                       .fd = -1,
                       .in = CM_BUF_INIT(CM_FRAME_MAX_BYTES + READ_BYTES + CM_WIRE_HEADER_BYTES),
                       .out = CM_BUF_INIT(CM_FRAME_MAX_BYTES + CM_WIRE_HEADER_BYTES)};
    serve(&s);
    cm_buf_done(&s.in);
    cm_buf_done(&s.out);
    cm_buf_done(&world.out);
    free(s.bind);
    free(s.runtime);
    return 0;
}
