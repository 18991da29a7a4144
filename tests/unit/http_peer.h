/** A server on a free port of loopback that takes one connection at a time and says exactly what a test gives it. */
#ifndef CM_TESTS_HTTP_PEER_H
#define CM_TESTS_HTTP_PEER_H

#include "base/buf.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

struct http_peer {
    cm_loop *loop;
    int listen_fd;
    uint16_t port;
    cm_watch *accepting;
    cm_stream *stream; /* of the newest connection */
    int fd;
    struct cm_buf got; /* on it; the callback may take it */
    size_t n_connections;
    void (*on_request)(void *user); /* a request is there, body and all */
    void *user;
};

static void http_peer_data(void *user, struct cm_str bytes)
{
    struct http_peer *p = user;

    cm_buf_add_str(&p->got, bytes);
    char *end = memmem(p->got.ptr, p->got.len, "\r\n\r\n", 4);
    const char *length = end ? strcasestr(p->got.ptr, "Content-Length: ") : NULL;
    if (end && p->got.len >= (size_t)(end + 4 - p->got.ptr) + (length ? strtoul(length + 16, NULL, 10) : 0))
        p->on_request(p->user);
}

static void http_peer_end(void *user, int eno)
{
    (void)user;
    (void)eno;
}

static void http_peer_accept(void *user, unsigned events)
{
    static const struct cm_stream_events hears = {.on_data = http_peer_data, .on_end = http_peer_end};
    struct http_peer *p = user;
    int fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return;
    p->n_connections++;
    cm_stream_free(p->stream);
    cm_buf_clear(&p->got);
    p->fd = fd;
    p->stream = cm_stream_new(p->loop, fd, fd, &hears, p);
}

static void http_peer_open(struct http_peer *p, cm_loop *loop, void (*on_request)(void *), void *user)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;

    *p = (struct http_peer){
        .loop = loop, .got = CM_BUF_INIT(1 << 20), .fd = -1, .on_request = on_request, .user = user};
    p->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(p->listen_fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(p->listen_fd, 16), 0);
    assert_int_equal(getsockname(p->listen_fd, (struct sockaddr *)&a, &len), 0);
    p->port = ntohs(a.sin_port);
    p->accepting = cm_watch_new(loop, p->listen_fd, http_peer_accept, p);
    cm_watch_set(p->accepting, CM_WATCH_READ);
}

/** Write all of it, and then, unless the connection stays, say that nothing follows. */
static void http_peer_say(struct http_peer *p, struct cm_str bytes, bool keep_open)
{
    (void)cm_stream_write(p->stream, bytes, NULL);
    assert_int_equal(cm_stream_queued(p->stream), 0);
    if (!keep_open)
        (void)shutdown(p->fd, SHUT_WR);
}

/** From now on nobody listens. */
static void http_peer_deafen(struct http_peer *p)
{
    cm_watch_free(p->accepting);
    p->accepting = NULL;
    if (p->listen_fd >= 0)
        close(p->listen_fd);
    p->listen_fd = -1;
}

/** Before its loop is freed. */
static void http_peer_close(struct http_peer *p)
{
    cm_stream_free(p->stream);
    http_peer_deafen(p);
    cm_buf_done(&p->got);
}

#endif
