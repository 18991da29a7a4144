#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

#define BUF_FIRST_BYTES 256

void cm_buf_done(struct cm_buf *b)
{
    free(b->ptr);
    *b = CM_BUF_INIT(b->max_bytes);
}

void cm_buf_clear(struct cm_buf *b)
{
    b->len = 0;
    b->failed = b->no_memory = false;
    if (b->ptr)
        b->ptr[0] = '\0';
}

char *cm_buf_reserve(struct cm_buf *b, size_t len)
{
    if (b->failed)
        return NULL;
    if (len > b->max_bytes || b->len > b->max_bytes - len) {
        b->failed = true;
        return NULL;
    }
    size_t need = b->len + len + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap * 2 : BUF_FIRST_BYTES;
        if (cap < need)
            cap = need;
        if (cap > b->max_bytes + 1)
            cap = b->max_bytes + 1;
        char *grown = cm_any_realloc(b->ptr, cap);
        if (!grown) {
            b->failed = b->no_memory = true;
            return NULL;
        }
        b->ptr = grown;
        b->cap = cap;
    }
    return b->ptr + b->len;
}

void cm_buf_add(struct cm_buf *b, const void *p, size_t len)
{
    char *at = cm_buf_reserve(b, len);

    if (!at)
        return;
    if (len)
        memcpy(at, p, len);
    b->len += len;
    b->ptr[b->len] = '\0';
}

void cm_buf_add_str(struct cm_buf *b, struct cm_str s)
{
    cm_buf_add(b, s.ptr, s.len);
}

void cm_buf_add_z(struct cm_buf *b, const char *z)
{
    cm_buf_add(b, z, strlen(z));
}

void cm_buf_add_char(struct cm_buf *b, char c)
{
    cm_buf_add(b, &c, 1);
}

void cm_buf_addf(struct cm_buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *at = n < 0 ? NULL : cm_buf_reserve(b, (size_t)n);
    if (!at)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(at, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

void cm_buf_drop_front(struct cm_buf *b, size_t n)
{
    if (n == 0)
        return;
    memmove(b->ptr, b->ptr + n, b->len - n);
    b->len -= n;
    b->ptr[b->len] = '\0';
}

cm_status cm_buf_check(const struct cm_buf *b, const char *what, struct cm_err *err)
{
    if (!b->failed)
        return CM_OK;
    if (b->no_memory)
        return cm_err_set(err, CM_E_NOMEM, "out of memory for %s", what);
    return cm_err_set(err, CM_E_LIMIT, "%s is larger than the limit of %zu bytes", what, b->max_bytes);
}

char *cm_buf_take(struct cm_buf *b, size_t *len)
{
    char *p = b->ptr ? b->ptr : cm_strdup("");

    if (len)
        *len = b->len;
    b->ptr = NULL;
    *b = CM_BUF_INIT(b->max_bytes);
    return p;
}
