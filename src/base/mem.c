#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *or_abort(void *p)
{
    if (!p) {
        (void)fputs("codemode: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *cm_try_malloc(size_t n)
{
    return malloc(n ? n : 1);
}

void *cm_try_realloc(void *p, size_t n)
{
    return realloc(p, n ? n : 1);
}

void *cm_malloc(size_t n)
{
    return or_abort(cm_try_malloc(n));
}

void *cm_calloc(size_t n, size_t size)
{
    return or_abort(calloc(n ? n : 1, size ? size : 1));
}

void *cm_realloc(void *p, size_t n)
{
    return or_abort(cm_try_realloc(p, n));
}

void *cm_any_malloc(size_t n)
{
    return n <= CM_SMALL_BYTES ? cm_malloc(n) : cm_try_malloc(n);
}

void *cm_any_realloc(void *p, size_t n)
{
    return n <= CM_SMALL_BYTES ? cm_realloc(p, n) : cm_try_realloc(p, n);
}

char *cm_memdup_z(const void *p, size_t len)
{
    char *copy = cm_malloc(len + 1);

    if (len)
        memcpy(copy, p, len);
    copy[len] = '\0';
    return copy;
}

char *cm_strdup(const char *s)
{
    return cm_memdup_z(s, strlen(s));
}

char *cm_strdup_null(const char *s)
{
    return s ? cm_strdup(s) : NULL;
}

char **cm_list_dup(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    char **copy = cm_calloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = cm_strdup(list[i]);
    return copy;
}

void cm_list_free(char **take_list)
{
    for (size_t i = 0; take_list && take_list[i]; i++)
        free(take_list[i]);
    free(take_list);
}

char *cm_asprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return or_abort(n < 0 ? NULL : text);
}
