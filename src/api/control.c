/**
 * Being asked by another process (control.h).
 *
 * Happy path: a connection of this user → one line → acknowledged → done as if it had been asked for here → one line → the other end closes.
 * A connection that says nothing is closed after REQUEST_MS, one that does not read its answer after ANSWER_MS; there are at most
 * CONNECTIONS_MAX. A peer that goes away does not undo its decision: that stands in the store, and what was started goes on.
 */
#include "api/control.h"

#include "api/internal.h"
#include "base/fd.h"

#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 8
#define REQUEST_MS      5000
#define ANSWER_MS       10000

struct cm_api__conn {
    cm_ctx *ctx;
    struct cm_api__conn *next, **link;
    cm_stream *stream; /* NULL: the other end has gone away */
    cm_timer *timer;
    struct cm_buf in;
    bool asked; /* the request was read */
    cm_op *op;  /* under way */
};
typedef struct cm_api__conn conn;

static void conn_free(conn *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->ctx->n_conns--;
    cm_stream_free(c->stream);
    cm_timer_free(c->timer);
    cm_buf_done(&c->in);
    free(c);
}

static void on_late(void *user)
{
    conn_free(user);
}

static void put_line(conn *c, struct cm_buf *line)
{
    cm_buf_add_char(line, '\n');
    if (c->stream && (line->failed || cm_stream_write(c->stream, cm_buf_str(line), NULL) != CM_OK)) {
        cm_stream_free(c->stream);
        c->stream = NULL;
    }
}

/** The last line was written: the other end closes when it has read it. */
static void answered(conn *c, struct cm_buf *line)
{
    c->op = NULL;
    put_line(c, line);
    if (!c->stream) {
        conn_free(c);
        return;
    }
    cm_stream_close_write(c->stream);
    cm_timer_start(c->timer, ANSWER_MS);
}

static void answer_error(conn *c, const struct cm_err *err)
{
    cm_autobuf line = CM_BUF_INIT(65536);

    cm_buf_addf(&line, "{\"error\":{\"status\":%d,\"code\":", (int)err->status);
    cm_json_write_string(&line, cm_str_of(cm_err_code(err)));
    cm_buf_add_z(&line, ",\"message\":");
    cm_json_write_string(&line, cm_str_of(err->message));
    cm_buf_add_z(&line, "}}");
    answered(c, &line);
}

static void on_done(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    conn *c = user;
    cm_auto(cm_outcome) o = take_outcome;
    cm_autobuf line = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);

    if (!o && err && err->status != CM_OK) {
        answer_error(c, err);
        return;
    }
    if (o) {
        cm_buf_add_z(&line, "{\"outcome\":");
        cm_buf_add_z(&line, cm_outcome_json(o, NULL));
        cm_buf_add_char(&line, '}');
    } else {
        cm_buf_add_z(&line, "{\"done\":true}");
    }
    answered(c, &line);
}

/** False: it is not for this process, which the other end is not told at length. */
static bool is_for_us(const cm_ctx *ctx, struct cm_str request)
{
    cm_auto(yyjson_doc) doc = NULL;
    const char *runtime = NULL;

    if (cm_json_parse(request, CM_JSON_STRICT, &doc, NULL) == CM_OK)
        runtime = cm_json_get_z(yyjson_doc_get_root(doc), "runtime");
    return runtime && cm_z_eq(runtime, ctx->runtime_name);
}

static void on_request(conn *c, struct cm_str request)
{
    cm_autobuf line = CM_BUF_INIT(64);
    struct cm_err err = {0};

    c->asked = true;
    cm_timer_stop(c->timer);
    if (!is_for_us(c->ctx, request)) {
        conn_free(c);
        return;
    }
    cm_buf_add_z(&line, "{\"ack\":true}");
    put_line(c, &line);
    if (cm_api__op_request(c->ctx, request, on_done, c, &c->op, &err) != CM_OK)
        answer_error(c, &err);
    else if (!c->op)
        on_done(c, NULL, NULL);
}

static void on_data(void *user, struct cm_str bytes)
{
    conn *c = user;
    const char *nl = c->asked ? NULL : memchr(bytes.ptr, '\n', bytes.len);

    if (c->asked) /* one request is all */
        return;
    cm_buf_add_str(&c->in, bytes);
    if (c->in.failed)
        conn_free(c);
    else if (nl)
        on_request(c, cm_str_mk(c->in.ptr, c->in.len - (size_t)(bytes.ptr + bytes.len - nl)));
}

static void on_end(void *user, int eno)
{
    conn *c = user;

    (void)eno;
    if (!c->op) {
        conn_free(c);
        return;
    }
    cm_stream_free(c->stream);
    c->stream = NULL;
}

static void on_connection(void *user, unsigned events)
{
    static const struct cm_stream_events stream_events = {.on_data = on_data, .on_end = on_end};
    cm_ctx *ctx = user;
    cm_autoclose int fd = accept4(ctx->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    if (fd < 0 || ctx->n_conns >= CONNECTIONS_MAX || !cm_api__socket_is_ours(fd))
        return;
    conn *c = cm_new(conn);
    *c = (conn){.ctx = ctx, .next = ctx->conns, .link = &ctx->conns};
    c->in = CM_BUF_INIT(CM_API__REQUEST_MAX_BYTES);
    if (c->next)
        c->next->link = &c->next;
    ctx->conns = c;
    ctx->n_conns++;
    c->timer = cm_timer_new(ctx->loop, on_late, c);
    cm_timer_start(c->timer, REQUEST_MS);
    int both = cm_steal_fd(&fd);
    c->stream = cm_stream_new(ctx->loop, both, both, &stream_events, c);
}

void cm_api__control_open(cm_ctx *ctx)
{
    if (ctx->listen_fd >= 0 || ctx->listen_path)
        return;
    ctx->listen_path = cm_store_own_socket(ctx->store);
    if (!ctx->listen_path)
        return;
    ctx->listen_fd = cm_api__socket_listen(ctx->listen_path);
    if (ctx->listen_fd < 0)
        return;
    ctx->listen = cm_watch_new(ctx->loop, ctx->listen_fd, on_connection, ctx);
    cm_watch_set(ctx->listen, CM_WATCH_READ);
}

void cm_api__control_close(cm_ctx *ctx)
{
    if (ctx->listen_fd >= 0) {
        cm_watch_free(ctx->listen);
        (void)unlink(ctx->listen_path);
        cm_fd_close(ctx->listen_fd);
        ctx->listen_fd = -1;
    }
    free(ctx->listen_path);
    ctx->listen_path = NULL;
}

void cm_api__hang_up(cm_ctx *ctx)
{
    while (ctx->conns)
        conn_free(ctx->conns);
}
