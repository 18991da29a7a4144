/*
 * A stream is two watches and a queue. Regular files and /dev/null cannot be watched (epoll refuses them), so
 * they are read from a `soon`, a chunk a turn; that is what standard input from a file is.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "loop/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAM_CHUNK_BYTES  65536
#define STREAM_QUEUED_MAX   (64u << 20)
#define STREAM_READS_A_TURN 16    /* so that one busy peer does not starve the others */
#define STREAM_SEND_BYTES   65536 /* as much is sent at once: the peer can begin to read */

struct cm_stream {
    cm_loop *loop;
    int in_fd;
    int out_fd;
    int in_flags; /* as they were; -1 where we changed none */
    int out_flags;
    cm_watch *in; /* the only watch when both descriptors are one */
    cm_watch *out;
    cm_soon *file_in; /* in place of `in` for what cannot be watched */
    struct cm_buf queue;
    size_t sent; /* bytes of queue already written */
    int write_eno;
    cm_stream *next_unsent, **prev_unsent; /* on the loop's list where prev is set */
    bool is_socket;
    bool reading;
    bool paused;
    bool ended;
    bool close_write;
    bool busy; /* one of our callbacks runs: its memory must outlive a cm_stream_free from inside it */
    bool dead; /* freed while busy */
    const struct cm_stream_events *ev;
    void *user;
};

/* Returns the flags as they were: standard streams are shared with whoever started us, who gets them back as
 * they were. */
static int set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return flags;
}

static void close_restored(int fd, int flags)
{
    if (fd >= 0 && flags >= 0)
        (void)fcntl(fd, F_SETFL, flags);
    cm_fd_close(fd);
}

/* Regular files, folders, and devices such as /dev/null: epoll refuses them, and they never make anyone wait. */
static bool is_unwatchable(int fd)
{
    cm_autoclose int probe = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN};

    return probe >= 0 && epoll_ctl(probe, EPOLL_CTL_ADD, fd, &ev) < 0 && errno == EPERM;
}

static bool is_socket(int fd)
{
    int type;

    return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type}) == 0;
}

static void update_watches(cm_stream *s)
{
    unsigned rd = s->reading && !s->paused ? CM_WATCH_READ : 0;
    unsigned wr = s->out_fd >= 0 && s->queue.len > s->sent ? CM_WATCH_WRITE : 0;

    if (s->file_in && rd)
        cm_soon_post(s->file_in);
    if (s->in && s->in_fd == s->out_fd) {
        cm_watch_set(s->in, rd | wr);
        return;
    }
    if (s->in)
        cm_watch_set(s->in, rd);
    if (s->out)
        cm_watch_set(s->out, wr);
}

static void end_input(cm_stream *s, int eno)
{
    s->reading = false;
    if (s->ended)
        return;
    s->ended = true;
    if (s->ev->on_end)
        s->ev->on_end(s->user, eno);
}

static void read_some(cm_stream *s)
{
    char chunk[STREAM_CHUNK_BYTES];

    for (int i = 0; i < STREAM_READS_A_TURN && !s->dead && s->reading && !s->paused; i++) {
        ssize_t n = read(s->in_fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (i == 0)
            s->loop->heard_us = cm_mono_us();
        if (n > 0)
            s->ev->on_data(s->user, cm_str_mk(chunk, (size_t)n));
        else
            end_input(s, n < 0 ? errno : 0);
        if (n > 0 && (size_t)n < sizeof chunk)
            return;
    }
}

void cm_stream_read_now(cm_stream *s, size_t max_bytes)
{
    char chunk[STREAM_CHUNK_BYTES];
    bool was_busy = s->busy;

    s->busy = true;
    for (size_t got = 0; got < max_bytes && !s->dead && s->reading;) {
        ssize_t n = read(s->in_fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* nothing now, or the end, which the watch will tell */
        got += (size_t)n;
        s->ev->on_data(s->user, cm_str_mk(chunk, (size_t)n));
    }
    s->busy = was_busy;
    if (!was_busy && s->dead)
        free(s);
}

static void close_out(cm_stream *s)
{
    cm_watch_free(s->out);
    s->out = NULL;
    if (s->out_fd != s->in_fd)
        close_restored(s->out_fd, s->out_flags);
    else if (s->out_fd >= 0)
        (void)shutdown(s->out_fd, SHUT_WR); /* a socket; its other half goes on */
    s->out_fd = -1;
}

static void write_some(cm_stream *s)
{
    while (s->out_fd >= 0 && s->sent < s->queue.len) {
        const char *at = s->queue.ptr + s->sent;
        size_t len = s->queue.len - s->sent;
        /* A socket needs no change of the signal mask. */
        ssize_t n =
            s->is_socket ? send(s->out_fd, at, len, MSG_NOSIGNAL) : cm_write_nosigpipe(s->out_fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0) {
            s->write_eno = errno;
            cm_buf_clear(&s->queue);
            s->sent = 0;
            close_out(s);
            return;
        }
        s->sent += (size_t)n;
    }
    cm_buf_clear(&s->queue);
    s->sent = 0;
    if (s->queue.cap > 4 * STREAM_CHUNK_BYTES)
        cm_buf_done(&s->queue);
    if (s->close_write)
        close_out(s);
}

static void unlink_unsent(cm_stream *s)
{
    if (!s->prev_unsent)
        return;
    *s->prev_unsent = s->next_unsent;
    if (s->next_unsent)
        s->next_unsent->prev_unsent = s->prev_unsent;
    s->prev_unsent = NULL;
}

static void send_now(cm_stream *s)
{
    unlink_unsent(s);
    write_some(s);
    update_watches(s);
}

void cm_loop__send_all(cm_loop *l)
{
    while (l->unsent)
        send_now(l->unsent);
}

static void stream_fired(void *user, unsigned events)
{
    cm_stream *s = user;

    s->busy = true;
    if (events & CM_WATCH_WRITE) {
        write_some(s);
        if (s->queue.len == 0 && s->ev->on_drain)
            s->ev->on_drain(s->user);
    }
    if (events & CM_WATCH_READ)
        read_some(s);
    s->busy = false;
    if (s->dead)
        free(s);
    else if (s->prev_unsent)
        send_now(s);
    else
        update_watches(s);
}

static void file_turn(void *user)
{
    stream_fired(user, CM_WATCH_READ);
}

cm_stream *cm_stream_new(cm_loop *l, int take_in_fd, int take_out_fd, const struct cm_stream_events *ev,
                         void *user)
{
    cm_stream *s = cm_new(cm_stream);

    *s = (cm_stream){.loop = l,
                     .in_fd = take_in_fd,
                     .out_fd = take_out_fd,
                     .in_flags = -1,
                     .out_flags = -1,
                     .ev = ev,
                     .user = user};
    s->queue = CM_BUF_INIT(STREAM_QUEUED_MAX);
    s->is_socket = is_socket(take_out_fd);
    s->reading = take_in_fd >= 0;
    if (take_in_fd >= 0 && is_unwatchable(take_in_fd)) {
        (void)fcntl(take_in_fd, F_SETFD, FD_CLOEXEC);
        s->file_in = cm_soon_new(l, file_turn, s);
    } else if (take_in_fd >= 0) {
        s->in_flags = set_nonblocking(take_in_fd);
        s->in = cm_watch_new(l, take_in_fd, stream_fired, s);
    }
    if (take_out_fd >= 0 && take_out_fd != take_in_fd && !is_unwatchable(take_out_fd)) {
        s->out_flags = set_nonblocking(take_out_fd);
        s->out = cm_watch_new(l, take_out_fd, stream_fired, s);
    }
    update_watches(s);
    return s;
}

static cm_status may_write(const cm_stream *s, struct cm_err *err)
{
    if (s->write_eno)
        return cm_err_errno(err, s->write_eno, "the other side has closed the stream");
    if (s->out_fd < 0 || s->close_write)
        return cm_err_set(err, CM_E_IO, "the stream's output is closed");
    return CM_OK;
}

static cm_status check_queue(cm_stream *s, struct cm_err *err)
{
    if (!s->queue.failed)
        return CM_OK;
    s->queue.failed = false;
    return cm_err_set(err, CM_E_LIMIT, "more than %u bytes wait to be written", STREAM_QUEUED_MAX);
}

struct cm_buf *cm_stream_begin(cm_stream *s)
{
    if (may_write(s, NULL) != CM_OK)
        return NULL;
    if (s->sent > 0 && s->sent >= s->queue.len / 2) {
        cm_buf_drop_front(&s->queue, s->sent);
        s->sent = 0;
    }
    return &s->queue;
}

cm_status cm_stream_send(cm_stream *s, struct cm_err *err)
{
    cm_status st = check_queue(s, err);

    if (st != CM_OK)
        return st;
    if (!s->loop->turning || cm_stream_queued(s) >= STREAM_SEND_BYTES) {
        send_now(s);
    } else if (!s->prev_unsent) {
        s->next_unsent = s->loop->unsent;
        s->prev_unsent = &s->loop->unsent;
        if (s->next_unsent)
            s->next_unsent->prev_unsent = &s->next_unsent;
        s->loop->unsent = s;
    }
    return CM_OK;
}

cm_status cm_stream_write(cm_stream *s, struct cm_str bytes, struct cm_err *err)
{
    struct cm_buf *queue = cm_stream_begin(s);

    if (!queue)
        return may_write(s, err);
    cm_buf_add_str(queue, bytes);
    cm_status st = check_queue(s, err);
    if (st != CM_OK)
        return st;
    send_now(s);
    return s->write_eno ? may_write(s, err) : CM_OK;
}

size_t cm_stream_queued(const cm_stream *s)
{
    return s->queue.len - s->sent;
}

void cm_stream_pause(cm_stream *s, bool paused)
{
    s->paused = paused;
    update_watches(s);
}

void cm_stream_close_write(cm_stream *s)
{
    s->close_write = true;
    if (cm_stream_queued(s) == 0)
        close_out(s);
}

void cm_stream_free(cm_stream *s)
{
    if (!s)
        return;
    cm_watch_free(s->in);
    cm_watch_free(s->out);
    cm_soon_free(s->file_in);
    if (s->out_fd != s->in_fd)
        close_restored(s->out_fd, s->out_flags);
    close_restored(s->in_fd, s->in_flags);
    unlink_unsent(s);
    cm_buf_done(&s->queue);
    s->in = s->out = NULL;
    s->file_in = NULL;
    s->in_fd = s->out_fd = -1;
    s->dead = true;
    if (!s->busy)
        free(s);
}
