/* The index: a dictionary of stems, and for each method the numbers of its words, field by field. */
#include "catalog/internal.h"

#include <assert.h>

#include "base/limits.h"

void cm_catalog__drop_index(cm_catalog *c)
{
    free(c->entries);
    free(c->words);
    free(c->dictionary);
    free(c->slots);
    c->entries = NULL;
    c->words = NULL;
    c->dictionary = NULL;
    c->slots = NULL;
    c->n_entries = c->cap_entries = c->n_words = c->cap_words = 0;
    c->n_dictionary = c->cap_dictionary = c->n_slots = 0;
    c->built = false;
}

static size_t hash(const char *word)
{
    uint64_t h = 14695981039346656037ULL;

    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 1099511628211ULL;
    return (size_t)(h ^ (h >> 31));
}

/* The slot of a word, or the free one where it belongs. */
static size_t find_slot(const cm_catalog *c, const char *word)
{
    size_t i = hash(word) & (c->n_slots - 1);

    while (c->slots[i] && strcmp(c->dictionary[c->slots[i] - 1].text, word) != 0)
        i = (i + 1) & (c->n_slots - 1);
    return i;
}

long cm_catalog__find_word(const cm_catalog *c, const char *stem)
{
    return c->n_slots ? (long)c->slots[find_slot(c, stem)] - 1 : -1;
}

static void grow_slots(cm_catalog *c)
{
    free(c->slots);
    c->n_slots = c->n_slots ? c->n_slots * 2 : 1024;
    c->slots = cm_calloc(c->n_slots, sizeof *c->slots);
    for (size_t i = 0; i < c->n_dictionary; i++)
        c->slots[find_slot(c, c->dictionary[i].text)] = (uint32_t)i + 1;
}

/* The number of a word, or -1 when the dictionary is full and does not have it. */
static long intern(cm_catalog *c, const char *word)
{
    if (c->n_dictionary == CM_DICTIONARY_MAX)
        return cm_catalog__find_word(c, word);
    if (c->n_dictionary * 2 >= c->n_slots)
        grow_slots(c);
    size_t slot = find_slot(c, word);
    if (!c->slots[slot]) {
        if (c->n_dictionary == c->cap_dictionary) {
            c->cap_dictionary = c->cap_dictionary ? c->cap_dictionary * 2 : 512;
            c->dictionary = cm_realloc(c->dictionary, c->cap_dictionary * sizeof *c->dictionary);
        }
        struct cm_word *w = &c->dictionary[c->n_dictionary++];
        *w = (struct cm_word){.is_stop = cm_words_is_stop(word)};
        memcpy(w->text, word, strlen(word) + 1);
        c->slots[slot] = (uint32_t)c->n_dictionary;
    }
    return (long)c->slots[slot] - 1;
}

static void add_field(cm_catalog *c, struct cm_str text)
{
    char words[CM_FIELD_MAX_WORDS][CM_WORD_MAX_BYTES + 1];
    size_t n = cm_words_cut(text, words, CM_FIELD_MAX_WORDS);

    if (c->n_words + n > c->cap_words) {
        c->cap_words = (c->n_words + n) * 2;
        c->words = cm_realloc(c->words, c->cap_words * sizeof *c->words);
    }
    for (size_t i = 0; i < n; i++) {
        long id = intern(c, words[i]);
        if (id < 0)
            continue;
        assert(c->dictionary); /* a word has a number only in it */
        c->words[c->n_words++] = (uint32_t)id;
        if (c->dictionary[id].last_seen != c->n_entries) {
            c->dictionary[id].last_seen = (uint32_t)c->n_entries;
            c->dictionary[id].n_methods++;
        }
    }
}

static void add_entry(cm_catalog *c, size_t connector, size_t method, const struct cm_method *m)
{
    struct cm_entry e = {.connector = (uint32_t)connector, .method = (uint32_t)method};
    struct cm_str texts[CM_FIELD_COUNT_] = {
        [CM_FIELD_METHOD] = cm_str_of(m->name),
        [CM_FIELD_CONNECTOR] = cm_str_of(cm_catalog__owner(c, &e)),
        [CM_FIELD_DESCRIPTION] = cm_str_of(m->description),
        [CM_FIELD_ORIGIN] = m->origin && strcmp(m->origin, m->name) != 0 ? cm_str_of(m->origin) : CM_STR(""),
    };

    if (c->n_entries == c->cap_entries) {
        c->cap_entries = c->cap_entries ? c->cap_entries * 2 : 64;
        c->entries = cm_realloc(c->entries, c->cap_entries * sizeof *c->entries);
    }
    /* Counted first, so that last_seen of the new entry is never the 0 of a new word. */
    size_t at = c->n_entries++;
    for (int f = 0; f < CM_FIELD_COUNT_; f++) {
        e.first[f] = (uint32_t)c->n_words;
        /* Descriptions of thousands of bytes say what they are about at the beginning. */
        add_field(c, cm_str_mk(texts[f].ptr, texts[f].len > 1000 ? 1000 : texts[f].len));
    }
    e.first[CM_FIELD_COUNT_] = (uint32_t)c->n_words;
    c->entries[at] = e;
}

static bool is_current(const cm_catalog *c)
{
    for (size_t i = 0; c->built && i < c->n_connectors; i++)
        if (cm_connector_generation(c->connectors[i]) != c->sources[i].generation)
            return false;
    return c->built;
}

/* Indexing 1,000 methods takes a few milliseconds, so one connector's change makes all of it anew. */
void cm_catalog__refresh(cm_catalog *c)
{
    if (is_current(c))
        return;
    cm_catalog__drop_index(c);
    for (size_t i = 0; i < c->n_connectors; i++) {
        struct cm_source *s = &c->sources[i];
        s->generation = cm_connector_generation(c->connectors[i]);
        s->n = cm_connector_methods(c->connectors[i], &s->methods);
        for (size_t k = 0; k < s->n && k < CM_METHODS_MAX; k++)
            add_entry(c, i, k, &s->methods[k]);
    }
    struct cm_source *snippets = &c->sources[c->n_connectors];
    snippets->n = cm_catalog__snippet_methods(c, &snippets->methods);
    for (size_t k = 0; k < snippets->n; k++)
        add_entry(c, c->n_connectors, k, &snippets->methods[k]);
    c->built = true;
}
