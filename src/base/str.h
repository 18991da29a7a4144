/** A borrowed run of bytes with its length; not NUL-terminated unless its maker says so. */
#ifndef CM_BASE_STR_H
#define CM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct cm_str {
    const char *ptr;
    size_t len;
};

#define CM_STR(literal) ((struct cm_str){"" literal, sizeof(literal) - 1})
/** For printf's "%.*s". */
#define CM_STR_ARG(s) (int)((s).len > 4096 ? 4096 : (s).len), (s).ptr ? (s).ptr : ""

static inline struct cm_str cm_str_of(const char *z)
{
    return (struct cm_str){z, z ? strlen(z) : 0};
}

static inline struct cm_str cm_str_mk(const void *p, size_t len)
{
    return (struct cm_str){(const char *)p, len};
}

static inline bool cm_str_eq(struct cm_str a, struct cm_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool cm_str_eq_z(struct cm_str a, const char *z)
{
    return cm_str_eq(a, cm_str_of(z));
}

static inline bool cm_z_eq(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static inline bool cm_str_has_prefix(struct cm_str s, struct cm_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

#endif
