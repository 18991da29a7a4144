/*
 * The carrier of the serving side over a pair of descriptors, as `codemode serve` uses it.
 *
 * The end: the client closes our input. Answers it still waits for are given for CM_MCP_LINGER_MS, since
 * whoever pipes a few requests in has closed it from the start; then calls are cancelled. Where the owner
 * stops it, the input is left unread instead, and how long to wait is the owner's to say. A client that cannot be written to is gone at once. `closed` is told from the loop, never from inside a write, so that
 * its owner may free everything in it.
 */
#include "base/limits.h"
#include "loop/loop.h"
#include "mcp/server.h"
#include "rpc/lines.h"

/* With this much output waiting no more requests are read: a client that does not read gets no more answers
 * made. */
#define PAUSE_AT_BYTES (16u << 20)

struct carrier {
    cm_mcp_server *s;
    cm_stream *stream;
    cm_lines *lines;
    cm_timer *linger;
    cm_soon *soon;
    bool ended; /* no more requests will come */
    bool gone;  /* and no answer can be written */
    bool paused;
};

static bool is_over(const struct carrier *k)
{
    return k->gone || (k->ended && cm_mcp_server_in_flight(k->s) == 0 && cm_stream_queued(k->stream) == 0);
}

static void settle(struct carrier *k)
{
    if (is_over(k))
        cm_soon_post(k->soon);
}

static void give_up(void *user)
{
    struct carrier *k = user;

    k->gone = true;
    settle(k);
}

/* The server may be freed, and with it k, inside each of the two. */
static void finish(void *user)
{
    struct carrier *k = user;
    cm_mcp_server *s = k->s;

    if (!is_over(k))
        return; /* the last line, without a newline, was one more request */
    if (k->gone && cm_mcp_server_in_flight(s) > 0) {
        cm_mcp_server_hang_up(s);
        return;
    }
    cm_mcp_server_tell_closed(s);
}

static cm_status send(void *self, struct cm_str message, struct cm_err *err)
{
    struct carrier *k = self;
    cm_autobuf line = CM_BUF_INIT((size_t)CM_RPC_MAX_BYTES + 1);

    cm_lines_format(&line, message);
    cm_status st = cm_buf_check(&line, "the message", err);
    if (st != CM_OK)
        return st;
    st = cm_stream_write(k->stream, cm_buf_str(&line), err);
    if (st != CM_OK) {
        give_up(k);
        return st;
    }
    if (!k->paused && cm_stream_queued(k->stream) > PAUSE_AT_BYTES) {
        k->paused = true;
        cm_stream_pause(k->stream, true);
    }
    return CM_OK;
}

static void idle(void *self)
{
    settle(self);
}

static bool stop(void *self)
{
    struct carrier *k = self;

    if (k->ended || k->gone)
        return false;
    k->ended = true;
    cm_stream_pause(k->stream, true);
    settle(k);
    return true;
}

static void free_carrier(void *self)
{
    struct carrier *k = self;

    cm_stream_free(k->stream);
    cm_lines_free(k->lines);
    cm_timer_free(k->linger);
    cm_soon_free(k->soon);
    free(k);
}

static void on_data(void *user, struct cm_str bytes)
{
    cm_lines_feed(((struct carrier *)user)->lines, bytes);
}

static void on_end(void *user, int eno)
{
    struct carrier *k = user;

    (void)eno;
    k->ended = true;
    cm_timer_start(k->linger, CM_MCP_LINGER_MS);
    /* Asked for before the last line is read: its call may free the server. */
    settle(k);
    cm_lines_end(k->lines);
}

static void on_drain(void *user)
{
    struct carrier *k = user;

    if (k->paused) {
        k->paused = false;
        cm_stream_pause(k->stream, k->ended);
    }
    settle(k);
}

static void on_line(void *user, struct cm_str line)
{
    cm_mcp_server_receive(((struct carrier *)user)->s, line);
}

static void on_bad(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    cm_mcp_server_receive_garbage(((struct carrier *)user)->s, head, tail, why);
}

cm_mcp_server *cm_mcp_server_new(cm_loop *l, int take_in_fd, int take_out_fd,
                                 const struct cm_mcp_server_info *info, const struct cm_mcp_server_ops *ops,
                                 void *user)
{
    static const struct cm_stream_events stream_events = {on_data, on_end, on_drain};
    static const struct cm_lines_events line_events = {.on_line = on_line, .on_bad = on_bad};
    struct carrier *k = cm_new(struct carrier);

    k->s = cm_mcp_server_new_over(
        &(struct cm_mcp_carrier){.send = send, .idle = idle, .stop = stop, .free = free_carrier, .self = k},
        info, ops, user);
    k->lines = cm_lines_new(CM_RPC_MAX_BYTES, &line_events, k);
    k->linger = cm_timer_new(l, give_up, k);
    k->soon = cm_soon_new(l, finish, k);
    k->stream = cm_stream_new(l, take_in_fd, take_out_fd, &stream_events, k);
    return k->s;
}
