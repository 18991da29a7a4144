#include "rpc/lines.h"

#include "base/utf8.h"

/* A buffer that grew past this for one long line is given back after it. */
#define KEEP_CAP_BYTES (1u << 20)

struct cm_lines {
    struct cm_lines_events ev;
    void *user;
    size_t max_bytes;
    struct cm_buf part; /* the line that has begun; while skipping only its head */
    bool skipping;      /* the line is too long: wait for its end, keeping only the tail */
    char tail[CM_LINES_SHOWN_BYTES];
    size_t tail_len;
    unsigned busy;
    bool doomed;
};

cm_lines *cm_lines_new(size_t max_bytes, const struct cm_lines_events *ev, void *user)
{
    cm_lines *l = cm_new(cm_lines);

    l->ev = *ev;
    l->user = user;
    l->max_bytes = max_bytes;
    l->part = CM_BUF_INIT(max_bytes);
    return l;
}

static void destroy(cm_lines *l)
{
    cm_buf_done(&l->part);
    free(l);
}

void cm_lines_free(cm_lines *l)
{
    if (!l)
        return;
    l->doomed = true;
    if (l->busy == 0)
        destroy(l);
}

static struct cm_str head_of(struct cm_str s)
{
    return cm_str_mk(s.ptr, s.len < CM_LINES_SHOWN_BYTES ? s.len : CM_LINES_SHOWN_BYTES);
}

static struct cm_str tail_of(struct cm_str s)
{
    size_t n = s.len < CM_LINES_SHOWN_BYTES ? s.len : CM_LINES_SHOWN_BYTES;

    return cm_str_mk(s.ptr + s.len - n, n);
}

static bool is_blank(struct cm_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != ' ' && s.ptr[i] != '\t' && s.ptr[i] != '\r')
            return false;
    return true;
}

/* Hand one whole line on. May free l as far as the caller is concerned: look at l->doomed afterwards. */
static void deliver(cm_lines *l, struct cm_str line)
{
    struct cm_err err;

    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (is_blank(line))
        return;
    size_t valid = l->ev.any_bytes ? line.len : cm_utf8_valid_prefix(line);
    if (valid == line.len) {
        l->ev.on_line(l->user, line);
        return;
    }
    (void)cm_err_set(&err, CM_E_INVALID, "the line is not UTF-8: byte 0x%02x at offset %zu",
                     (unsigned char)line.ptr[valid], valid);
    l->ev.on_bad(l->user, head_of(line), tail_of(line), &err);
}

static void keep_tail(cm_lines *l, struct cm_str bytes)
{
    size_t room = sizeof l->tail;

    if (bytes.len >= room) {
        memcpy(l->tail, bytes.ptr + bytes.len - room, room);
        l->tail_len = room;
        return;
    }
    size_t old = l->tail_len < room - bytes.len ? l->tail_len : room - bytes.len;
    memmove(l->tail, l->tail + l->tail_len - old, old);
    if (bytes.len)
        memcpy(l->tail + old, bytes.ptr, bytes.len);
    l->tail_len = old + bytes.len;
}

static void start_skipping(cm_lines *l)
{
    char head[CM_LINES_SHOWN_BYTES];
    struct cm_str shown = head_of(cm_buf_str(&l->part));

    l->skipping = true;
    l->tail_len = 0;
    keep_tail(l, tail_of(cm_buf_str(&l->part)));
    /* Megabytes were kept of a line that nobody will read: only its head stays. */
    memcpy(head, shown.ptr, shown.len);
    cm_buf_done(&l->part);
    cm_buf_add(&l->part, head, shown.len);
}

static void end_skipping(cm_lines *l)
{
    struct cm_err err;

    l->skipping = false;
    (void)cm_err_set(&err, CM_E_LIMIT, "the line is longer than the limit of %zu bytes", l->max_bytes);
    l->ev.on_bad(l->user, head_of(cm_buf_str(&l->part)), cm_str_mk(l->tail, l->tail_len), &err);
}

static void append(cm_lines *l, struct cm_str bytes)
{
    if (!l->skipping) {
        cm_buf_add(&l->part, bytes.ptr, bytes.len);
        if (!l->part.failed)
            return;
        start_skipping(l);
        /* What did not fit may be all there is of this line: its head is shown too. */
        if (l->part.len == 0) {
            struct cm_str head = head_of(bytes);
            head.len = head.len < l->max_bytes ? head.len : l->max_bytes;
            cm_buf_add(&l->part, head.ptr, head.len);
        }
    }
    keep_tail(l, bytes);
}

static void end_line(cm_lines *l)
{
    if (l->skipping)
        end_skipping(l);
    else
        deliver(l, cm_buf_str(&l->part));
    if (l->part.cap > KEEP_CAP_BYTES)
        cm_buf_done(&l->part);
    else
        cm_buf_clear(&l->part);
}

void cm_lines_feed(cm_lines *l, struct cm_str bytes)
{
    l->busy++;
    while (bytes.len > 0 && !l->doomed) {
        const char *nl = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = nl ? (size_t)(nl - bytes.ptr) : bytes.len;
        struct cm_str piece = cm_str_mk(bytes.ptr, n);

        bytes = nl ? cm_str_mk(nl + 1, bytes.len - n - 1) : cm_str_mk(bytes.ptr + n, 0);
        /* The common case, a whole line in one read, is never copied. */
        if (nl && l->part.len == 0 && !l->skipping && n <= l->max_bytes) {
            deliver(l, piece);
            continue;
        }
        append(l, piece);
        if (nl)
            end_line(l);
    }
    l->busy--;
    if (l->doomed && l->busy == 0)
        destroy(l);
}

void cm_lines_end(cm_lines *l)
{
    l->busy++;
    if (!l->doomed && (l->part.len > 0 || l->skipping))
        end_line(l);
    l->busy--;
    if (l->doomed && l->busy == 0)
        destroy(l);
}

void cm_lines_format(struct cm_buf *out, struct cm_str message)
{
    char *at = cm_buf_reserve(out, message.len + 1);

    if (!at)
        return;
    for (size_t i = 0; i < message.len; i++)
        at[i] = message.ptr[i] == '\n' || message.ptr[i] == '\r' ? ' ' : message.ptr[i];
    at[message.len] = '\n';
    out->len += message.len + 1;
    out->ptr[out->len] = '\0';
}
