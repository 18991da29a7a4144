/** What the files of this folder share: the index, and words as it knows them. */
#ifndef CM_CATALOG_INTERNAL_H
#define CM_CATALOG_INTERNAL_H

#include "catalog/catalog.h"

#define CM_WORD_MAX_BYTES  32     /* of a stem; longer words are cut */
#define CM_FIELD_MAX_WORDS 80     /* of one description that are indexed */
#define CM_DICTIONARY_MAX  100000 /* stems; what servers say beyond it is not indexed */
#define CM_QUERY_MAX_WORDS 24
#define CM_SIGNATURE_BYTES 200

/** Where a word of a method stands, and so what it weighs. */
enum cm_field { CM_FIELD_METHOD, CM_FIELD_CONNECTOR, CM_FIELD_DESCRIPTION, CM_FIELD_ORIGIN, CM_FIELD_COUNT_ };

struct cm_word {
    char text[CM_WORD_MAX_BYTES + 1];
    uint32_t n_methods; /* that have it */
    uint32_t last_seen; /* method + 1 that counted it last */
    bool is_stop;
};

/** Past the last connector: an entry that is a snippet. */
#define CM_CATALOG__IS_SNIPPET(c, e) ((e)->connector == (c)->n_connectors)

/** One method. Its words are words[first[f] .. first[f + 1]) of the index, as numbers of the dictionary. */
struct cm_entry {
    uint32_t connector, method;
    uint32_t first[CM_FIELD_COUNT_ + 1];
};

/** What the index was made from, to notice a connector that got ready or another table without being told. */
struct cm_source {
    uint64_t generation; /* of the table; 0: the connector was not READY */
    const struct cm_method *methods;
    size_t n;
};

struct cm_catalog {
    cm_connector **connectors;
    struct cm_source *sources; /* one more than connectors, for the snippets */
    size_t n_connectors;
    struct cm_kept_snippet *snippets;
    size_t n_snippets;
    struct cm_method *snippet_methods; /* they as a table of methods, made with the index */
    bool built;

    struct cm_entry *entries;
    size_t n_entries, cap_entries;
    uint32_t *words;
    size_t n_words, cap_words;
    struct cm_word *dictionary;
    size_t n_dictionary, cap_dictionary;
    uint32_t *slots; /* hash table: number in the dictionary + 1 */
    size_t n_slots;
};

/** index.c: make the index fit what the connectors have now. */
void cm_catalog__refresh(cm_catalog *c);
void cm_catalog__drop_index(cm_catalog *c);
/** Number of a stem in the dictionary, or -1. */
long cm_catalog__find_word(const cm_catalog *c, const char *stem);

/** words.c: cut text into lower-case stems, at most max of them; returns how many. `createIssue`,
 * `create-issues` → creat, issu. */
size_t cm_words_cut(struct cm_str text, char (*out)[CM_WORD_MAX_BYTES + 1], size_t max);
/** A word that says nothing in a query ("the", "how"). Stems. */
bool cm_words_is_stop(const char *stem);
/** Whether it says what a method does: create, list, … A stem. */
bool cm_words_is_verb(const char *stem);
/** Each stem that may stand for another in names of methods (get, fetch), and how well. */
void cm_words_each_synonym(const char *stem, void (*fn)(void *user, const char *other, float worth),
                           void *user);

/** catalog.c: what a method is, for the schema layer. */
struct cm_schema_method cm_catalog__schema_method(cm_connector *c, size_t i);
/** What stands before the dot: the connector's name, or "snippet". Borrowed. */
const char *cm_catalog__owner(const cm_catalog *c, const struct cm_entry *e);
/** How a program names it: "connector.method", or the name of a snippet. Owned by the caller. */
char *cm_catalog__path(const cm_catalog *c, const struct cm_entry *e);
/** Paths that are near to what was asked for, best first; each is owned by the caller. Returns how many. */
size_t cm_catalog__nearest(cm_catalog *c, struct cm_str name, char *out[], size_t max);
/** snippets.c: those there are, as methods; the table is valid until the next index. */
size_t cm_catalog__snippet_methods(cm_catalog *c, const struct cm_method **out);
/** Its number, or -1. */
long cm_catalog__find_snippet(const cm_catalog *c, struct cm_str name);
/** Append codemode.run("NAME", input: …): Promise<unknown>, around max_bytes long. */
void cm_catalog__write_run(const cm_catalog *c, size_t i, size_t max_bytes, struct cm_buf *out);
cm_status cm_catalog__describe_snippet(const cm_catalog *c, size_t i, struct cm_buf *out, struct cm_err *err);
void cm_catalog__free_snippets(cm_catalog *c);

/** Why a connector has no methods now. Borrowed. */
const char *cm_catalog__why_not_ready(const cm_connector *c);

#endif
