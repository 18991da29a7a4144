/** Memory and ownership. Our own small sizes: cm_malloc, which aborts. Sizes a peer decides: cm_try_malloc,
 * after a limit. */
#ifndef CM_BASE_MEM_H
#define CM_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

void *cm_malloc(size_t n) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *cm_calloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *cm_realloc(void *p, size_t n) __attribute__((returns_nonnull, alloc_size(2)));
char *cm_strdup(const char *s) __attribute__((returns_nonnull));
/** NULL for NULL. */
char *cm_strdup_null(const char *s);
/** A NULL-terminated list of strings and a copy of it, strings included; NULL counts as empty. */
char **cm_list_dup(const char *const *list) __attribute__((returns_nonnull));
void cm_list_free(char **take_list);
/** A NUL-terminated copy of len bytes; bytes may hold NUL. NULL p with len 0 is an empty string. */
char *cm_memdup_z(const void *p, size_t len) __attribute__((returns_nonnull));
/** NULL when memory is short; n of 0 gives a pointer that may be freed. */
void *cm_try_malloc(size_t n) __attribute__((malloc));
void *cm_try_realloc(void *p, size_t n);
/** Of a size that somebody else decides: up to here as cm_malloc, since no caller can go on without a name; beyond as cm_try_malloc. */
#define CM_SMALL_BYTES 65536
void *cm_any_malloc(size_t n) __attribute__((malloc));
void *cm_any_realloc(void *p, size_t n);
/** printf into a new string; the result is owned by the caller. Aborts when memory is short. */
char *cm_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#define cm_new(T) ((T *)cm_calloc(1, sizeof(T)))

static inline void cm_autofree_(void *pp)
{
    free(*(void **)pp);
}

/** Freed when it leaves scope. Initialise at birth. */
#define cm_autofree __attribute__((cleanup(cm_autofree_)))

/** Hand the value over and leave NULL behind: `*out = cm_steal(&text);` */
#define cm_steal(pp)                \
    ({                              \
        __auto_type steal_ = *(pp); \
        *(pp) = NULL;               \
        steal_;                     \
    })

/** After `CM_DEFINE_AUTO(cm_spec, cm_spec_free)`, `cm_auto(cm_spec) s = NULL;` frees s when it leaves scope.
 */
#define CM_DEFINE_AUTO(T, free_fn)       \
    static inline void T##_auto_(T **pp) \
    {                                    \
        if (*pp)                         \
            free_fn(*pp);                \
    }
#define cm_auto(T)      __attribute__((cleanup(T##_auto_))) T *

#define CM_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
