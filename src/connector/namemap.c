#include "connector/namemap.h"

#include "base/random.h"

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash(const struct cm_namemap *m, struct cm_str key)
{
    uint64_t h = m->seed ^ key.len;

    for (size_t i = 0; i < key.len; i++)
        h = mix(h + (unsigned char)key.ptr[i] + 1);
    return h;
}

void cm_namemap_done(struct cm_namemap *m)
{
    free(m->slots);
    *m = (struct cm_namemap){0};
}

static void insert(struct cm_namemap *m, struct cm_namemap_slot slot)
{
    size_t at = hash(m, cm_str_mk(slot.key, slot.len)) & (m->cap - 1);

    while (m->slots[at].key)
        at = (at + 1) & (m->cap - 1);
    m->slots[at] = slot;
}

static void grow(struct cm_namemap *m)
{
    struct cm_namemap_slot *old = m->slots;
    size_t old_cap = m->cap;

    if (!m->cap)
        cm_random_bytes(&m->seed, sizeof m->seed);
    m->cap = old_cap ? old_cap * 2 : 32;
    m->slots = cm_calloc(m->cap, sizeof *m->slots);
    for (size_t i = 0; i < old_cap; i++)
        if (old[i].key)
            insert(m, old[i]);
    free(old);
}

void cm_namemap_put(struct cm_namemap *m, const char *key, size_t value)
{
    if (m->n * 2 >= m->cap)
        grow(m);
    insert(m, (struct cm_namemap_slot){key, strlen(key), value});
    m->n++;
}

long cm_namemap_get(const struct cm_namemap *m, struct cm_str key)
{
    if (!m->n)
        return -1;
    size_t at = hash(m, key) & (m->cap - 1);
    while (m->slots[at].key) {
        if (m->slots[at].len == key.len && memcmp(m->slots[at].key, key.ptr, key.len) == 0)
            return (long)m->slots[at].value;
        at = (at + 1) & (m->cap - 1);
    }
    return -1;
}
