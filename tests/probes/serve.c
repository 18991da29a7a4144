/** The serve function of a probe worker: the frames of the real one (wire/wire.h), a probe in place of a
 * program. */
#include "probe.h"

#include "base/limits.h"
#include "wire/wire.h"
#include "worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 65536

static void send_frame(int fd, enum cm_frame_type type, uint32_t id, const struct cm_str *parts,
                       size_t n_parts)
{
    cm_autobuf out = CM_BUF_INIT(READ_BYTES);

    cm_wire_encode(&out, type, 0, id, parts, n_parts);
    if (send(fd, out.ptr, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
        _exit(1);
}

static bool next_frame(int fd, struct cm_buf *in, size_t *used, struct cm_frame *f)
{
    cm_buf_drop_front(in, *used);
    for (*used = 0; *used == 0;) {
        if (cm_wire_decode(in->ptr, in->len, READ_BYTES, f, used, NULL) != CM_OK)
            _exit(1);
        if (*used > 0)
            break;
        char *room = cm_buf_reserve(in, READ_BYTES / 2);
        ssize_t n = recv(fd, room, READ_BYTES / 2, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        in->len += (size_t)n;
    }
    return true;
}

static void send_done(int fd, const char *key, long value)
{
    char json[64];

    (void)snprintf(json, sizeof(json), "{\"%s\":%ld}", key, value);
    const struct cm_str parts[] = {cm_str_of(json), CM_STR(""), CM_STR("{}")};
    send_frame(fd, CM_FRAME_DONE, 0, parts, CM_ARRAY_LEN(parts));
}

static long resolve(long arg, const struct probe_targets *t)
{
    return arg == PROBE_HOST      ? t->host
           : arg == PROBE_ZYGOTE  ? t->zygote
           : arg == PROBE_SIBLING ? t->sibling
                                  : arg;
}

static long run_probe(const struct probe *p, const struct probe_targets *t)
{
    long a[6];

    if (p->run)
        return p->run(t);
    for (size_t i = 0; i < CM_ARRAY_LEN(a); i++)
        a[i] = resolve(p->args[i], t);
    return cm_probe_call(p->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/** A call that the host answers when it likes: the sibling that others aim at. */
static void wait_for_outcome(int fd, struct cm_buf *in, size_t *used)
{
    static const char place[12];
    const struct cm_str parts[] = {{"\0", 1},    CM_STR("svc"), CM_STR("wait"),
                                   CM_STR("{}"), CM_STR(""),    {place, sizeof(place)}};
    struct cm_frame f;

    send_frame(fd, CM_FRAME_CALL, 1, parts, CM_ARRAY_LEN(parts));
    send_frame(fd, CM_FRAME_WAIT, 0, NULL, 0);
    if (!next_frame(fd, in, used, &f) || f.type != CM_FRAME_OUTCOME)
        _exit(1);
    send_done(fd, "answered", 1);
}

/** "NAME HOST ZYGOTE SIBLING" */
static void attempt(int fd, struct cm_str source)
{
    char text[256];
    char name[64] = "";
    struct probe_targets t = {0};

    (void)snprintf(text, sizeof(text), "%.*s", CM_STR_ARG(source));
    (void)sscanf(text, "%63s %ld %ld %ld", name, &t.host, &t.zygote, &t.sibling);
    for (size_t i = 0; i < cm_n_probes; i++) {
        if (!cm_z_eq(cm_probes[i].name, name))
            continue;
        long rc = run_probe(&cm_probes[i], &t);
        send_done(fd, rc < 0 ? "errno" : "got", rc < 0 ? -rc : rc);
        /* What it got must not help the next one. */
        if (rc >= 0)
            _exit(0);
        return;
    }
    send_done(fd, "unknown", 1);
}

void cm_worker_serve(const struct cm_worker_opts *opts, cm_engine *take_engine, int fd)
{
    const struct cm_str version = CM_STR(CM_WIRE_VERSION);
    cm_autobuf in = CM_BUF_INIT(2 * READ_BYTES);
    size_t used = 0;
    struct cm_frame f;

    (void)opts, (void)take_engine;
    send_frame(fd, CM_FRAME_HELLO, 0, &version, 1);
    while (next_frame(fd, &in, &used, &f)) {
        if (f.type != CM_FRAME_RUN)
            continue;
        if (cm_str_eq_z(f.parts[1], "wait"))
            wait_for_outcome(fd, &in, &used);
        else
            attempt(fd, f.parts[1]);
        send_frame(fd, CM_FRAME_IDLE, 0, NULL, 0);
    }
}
