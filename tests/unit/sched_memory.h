/**
 * Memory that runs out, for the world of sched_world.h: the n-th allocation of the process fails, whoever asks for it (our own code, JSON, the
 * loop, the database), in place of the C library's. Not with a sanitizer, which has these functions itself.
 */
#ifndef CM_TESTS_SCHED_MEMORY_H
#define CM_TESTS_SCHED_MEMORY_H

#include "base/sanitize.h"

#include "sched_world.h"

#if !CM_SANITIZED

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static bool is_alloc_to_fail(void)
{
    return out && out->counting && is_to_fail(&out->n_alloc, out->fail_alloc_at);
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t n)
{
    return is_alloc_to_fail() ? no_memory() : __libc_malloc(n);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return is_alloc_to_fail() ? no_memory() : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t n)
{
    return is_alloc_to_fail() ? no_memory() : __libc_realloc(p, n);
}

__attribute__((visibility("default"))) void free(void *p)
{
    __libc_free(p);
}

#endif

#endif
