/**
 * A growing buffer with a maximum from birth. Past it, or when memory is short (cm_any_realloc), it turns *failed*: it keeps
 * what it has, ignores later appends, and the caller checks once at the end. Always NUL-terminated behind
 * `len` once anything was appended.
 */
#ifndef CM_BASE_BUF_H
#define CM_BASE_BUF_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct cm_buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max_bytes;
    bool failed;
    bool no_memory; /* which is why */
};

#define CM_BUF_INIT(max) ((struct cm_buf){.max_bytes = (max)})

void cm_buf_done(struct cm_buf *b);
void cm_buf_clear(struct cm_buf *b);
void cm_buf_add(struct cm_buf *b, const void *p, size_t len);
void cm_buf_add_str(struct cm_buf *b, struct cm_str s);
void cm_buf_add_z(struct cm_buf *b, const char *z);
void cm_buf_add_char(struct cm_buf *b, char c);
void cm_buf_addf(struct cm_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Make room for len more bytes and return where they go, or NULL (failed). The caller adds to b->len what it
 * wrote. */
char *cm_buf_reserve(struct cm_buf *b, size_t len);
/** Drop the first n bytes (n <= len). */
void cm_buf_drop_front(struct cm_buf *b, size_t n);
/** CM_OK, or when the buffer has failed CM_E_LIMIT naming `what` and the maximum, or CM_E_NOMEM. */
cm_status cm_buf_check(const struct cm_buf *b, const char *what, struct cm_err *err);
/** Hand over the bytes (NUL-terminated, never NULL); the buffer is empty afterwards. len may be NULL. */
char *cm_buf_take(struct cm_buf *b, size_t *len);

static inline struct cm_str cm_buf_str(const struct cm_buf *b)
{
    return (struct cm_str){b->ptr ? b->ptr : "", b->len};
}

#define cm_autobuf __attribute__((cleanup(cm_buf_done))) struct cm_buf

#endif
