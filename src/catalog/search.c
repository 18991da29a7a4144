/*
 * Search: every word of the query is compared with the dictionary once, then each method adds up what its
 * words are worth.
 *
 *   a query word and a stem    the same 1 · the stem begins with it 0.6 · synonyms 0.5 · near (a typo) 0.4 ·
 * contained 0.3 where the stem stands      method 10 · description 5 · connector 4 · upstream name 2; best
 * match of each field, times how rare the stem is       ln(1 + methods / methods that have it), so that
 * "issue" says more than "create" how much of the query      one or two words must all match, of more 60 %
 * must; else only if nothing better was found how much of the name       a method whose name is all in the
 * query stands before one with further words
 */
#include "catalog/internal.h"

#include "base/names.h"
#include "base/utf8.h"
#include "schema/schema.h"

#include <math.h>

#define DESCRIPTION_BYTES 240
#define SUGGESTIONS_MAX   5

static const float weights[CM_FIELD_COUNT_] = {
    [CM_FIELD_METHOD] = 10, [CM_FIELD_CONNECTOR] = 4, [CM_FIELD_DESCRIPTION] = 5, [CM_FIELD_ORIGIN] = 2};

struct query {
    char words[CM_QUERY_MAX_WORDS][CM_WORD_MAX_BYTES + 1];
    size_t n;
    float *worth; /* n rows of n_dictionary: how well a stem matches a query word, rarity included */
    struct cm_str text;
    bool names_a_verb;
};

struct hit {
    uint32_t entry;
    float score;
    float coverage;
};

/* ---- the query ---- */

/* Words that count: each once, and none that says nothing unless there is no other. */
static void cut_query(struct query *q)
{
    char all[CM_QUERY_MAX_WORDS][CM_WORD_MAX_BYTES + 1];
    size_t n = cm_words_cut(q->text, all, CM_QUERY_MAX_WORDS);

    for (int stops = 0; stops < 2 && q->n == 0; stops++) {
        for (size_t i = 0; i < n; i++) {
            bool repeated = false;
            for (size_t k = 0; k < q->n; k++)
                repeated = repeated || strcmp(q->words[k], all[i]) == 0;
            if (!repeated && (stops || !cm_words_is_stop(all[i])))
                memcpy(q->words[q->n++], all[i], sizeof all[i]);
        }
    }
}

static float similarity(const char *asked, size_t n, const char *stem)
{
    size_t m = strlen(stem);

    if (n >= 3 && m >= n && memcmp(asked, stem, n) == 0)
        return m == n ? 1 : 0.6F;
    if (m >= 4 && n > m && n - m <= 3 && memcmp(asked, stem, m) == 0)
        return 0.4F;
    if (n >= 4 && m > n && strstr(stem, asked))
        return 0.3F;
    return n == m && memcmp(asked, stem, n) == 0;
}

static float rarity(const cm_catalog *c, size_t word)
{
    return logf(1 + (float)c->n_entries / (float)c->dictionary[word].n_methods);
}

/* One query word against the dictionary. */
struct row {
    const cm_catalog *c;
    float *worth;
    float rarest; /* what the word itself is worth: a rare synonym is not worth more */
    bool any;
};

static void note(struct row *r, size_t word, float similar)
{
    float own = rarity(r->c, word);
    float worth = similar * (own < r->rarest ? own : r->rarest);

    if (worth > r->worth[word])
        r->worth[word] = worth;
    r->any = true;
}

static void note_synonym(void *user, const char *other, float worth)
{
    struct row *r = user;
    long word = cm_catalog__find_word(r->c, other);

    if (word >= 0)
        note(r, (size_t)word, worth);
}

/* A word that nothing resembles is perhaps misspelt. */
static void note_typos(struct row *r, const char *asked)
{
    size_t len = strlen(asked);
    unsigned allowed = len >= 7 ? 2 : len >= 4 ? 1 : 0;

    for (size_t w = 0; allowed && w < r->c->n_dictionary; w++) {
        const char *stem = r->c->dictionary[w].text;
        size_t other = strlen(stem);
        if (other + allowed < len || len + allowed < other)
            continue;
        if (cm_name_distance(cm_str_mk(stem, other), cm_str_mk(asked, len)) <= allowed)
            note(r, w, 0.4F);
    }
}

static void weigh_word(const cm_catalog *c, const char *asked, float *worth)
{
    long self = cm_catalog__find_word(c, asked);
    struct row r = {.c = c, .worth = worth, .rarest = self >= 0 ? rarity(c, (size_t)self) : INFINITY};
    size_t len = strlen(asked);

    for (size_t w = 0; w < c->n_dictionary; w++) {
        float s = similarity(asked, len, c->dictionary[w].text);
        if (s > 0)
            note(&r, w, s);
    }
    cm_words_each_synonym(asked, note_synonym, &r);
    if (!r.any)
        note_typos(&r, asked);
}

static bool weigh(const cm_catalog *c, struct query *q)
{
    size_t bytes = (q->n * c->n_dictionary + 1) * sizeof *q->worth;

    q->worth = cm_try_malloc(bytes);
    if (q->worth)
        memset(q->worth, 0, bytes);
    q->names_a_verb = q->n == 0;
    for (size_t i = 0; q->worth && i < q->n; i++) {
        weigh_word(c, q->words[i], q->worth + i * c->n_dictionary);
        q->names_a_verb = q->names_a_verb || cm_words_is_verb(q->words[i]);
    }
    return q->worth != NULL;
}

/* ---- one method ---- */

static float best_in_field(const cm_catalog *c, const struct cm_entry *e, int field, const float *row)
{
    float best = 0;

    for (uint32_t i = e->first[field]; i < e->first[field + 1]; i++)
        if (row[c->words[i]] > best)
            best = row[c->words[i]];
    return best;
}

/* Part of the words of a field that the query has, in whatever form. */
static float share_of_field(const cm_catalog *c, const struct cm_entry *e, int field, const struct query *q)
{
    uint32_t n = 0, total = 0;

    for (uint32_t i = e->first[field]; i < e->first[field + 1]; i++) {
        size_t word = c->words[i];
        bool found = false;
        if (c->dictionary[word].is_stop)
            continue;
        for (size_t k = 0; k < q->n && !found; k++)
            found = q->worth[k * c->n_dictionary + word] > 0;
        n += found;
        total++;
    }
    return total ? (float)n / (float)total : 0;
}

static bool is_path(const cm_catalog *c, const struct cm_entry *e, struct cm_str text)
{
    const char *connector = cm_catalog__owner(c, e);
    const char *method = c->sources[e->connector].methods[e->method].name;
    size_t k = strlen(connector);

    return cm_str_eq_z(text, method) ||
           (text.len == k + 1 + strlen(method) && memcmp(text.ptr, connector, k) == 0 && text.ptr[k] == '.' &&
            memcmp(text.ptr + k + 1, method, strlen(method)) == 0);
}

/* Who only names a thing ("issue comment") most often wants one made, or all of them. */
static bool does_the_usual(const cm_catalog *c, const struct cm_entry *e)
{
    long create = cm_catalog__find_word(c, "creat"), list = cm_catalog__find_word(c, "list");

    for (uint32_t i = e->first[CM_FIELD_METHOD]; i < e->first[CM_FIELD_METHOD + 1]; i++)
        if ((long)c->words[i] == create || (long)c->words[i] == list)
            return true;
    return false;
}

static struct hit rate(const cm_catalog *c, size_t entry, const struct query *q)
{
    const struct cm_entry *e = &c->entries[entry];
    struct hit hit = {.entry = (uint32_t)entry};
    size_t matched = 0;

    for (size_t i = 0; i < q->n; i++) {
        const float *row = q->worth + i * c->n_dictionary;
        float sum = 0;
        for (int f = 0; f < CM_FIELD_COUNT_; f++)
            sum += weights[f] * best_in_field(c, e, f, row);
        hit.score += sum;
        matched += sum > 0;
    }
    if (matched == 0)
        return hit;
    hit.coverage = (float)matched / (float)q->n;
    hit.score *= hit.coverage;
    /* Names of OpenAPI methods begin with their group: words of the method alone and of both together count.
     */
    hit.score *= 1 + 0.8F * share_of_field(c, e, CM_FIELD_METHOD, q) +
                 0.6F * share_of_field(c, e, CM_FIELD_DESCRIPTION, q);
    if (!q->names_a_verb && does_the_usual(c, e))
        hit.score *= 1.05F;
    if (is_path(c, e, q->text))
        hit.score = hit.score * 2 + 1000;
    return hit;
}

static int compare_hits(const void *pa, const void *pb)
{
    const struct hit *a = pa, *b = pb;

    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* All that match well enough; where none does, all that match at all. */
static size_t find_hits(const cm_catalog *c, const struct query *q, struct hit *hits)
{
    float needed = q->n <= 2 ? 1.0F : 0.6F;
    size_t n = 0, good = 0;

    for (size_t i = 0; i < c->n_entries; i++) {
        struct hit h = q->n ? rate(c, i, q) : (struct hit){.entry = (uint32_t)i, .coverage = 1};
        if (h.coverage <= 0)
            continue;
        if (h.coverage >= needed && good++ == 0)
            n = 0;
        if (h.coverage >= needed || good == 0)
            hits[n++] = h;
    }
    if (q->n)
        qsort(hits, n, sizeof *hits, compare_hits);
    return n;
}

/* ---- the answer ---- */

static void write_description(struct cm_buf *out, const char *text)
{
    cm_autobuf line = CM_BUF_INIT(DESCRIPTION_BYTES * 2);
    size_t cut = cm_utf8_cut(cm_str_of(text), DESCRIPTION_BYTES);
    bool space = false;

    for (size_t i = 0; i < cut; i++) {
        bool blank = (unsigned char)text[i] <= ' ';
        if (blank && line.len > 0)
            space = true;
        if (blank)
            continue;
        if (space)
            cm_buf_add_char(&line, ' ');
        space = false;
        cm_buf_add_char(&line, text[i]);
    }
    if (text[cut])
        cm_buf_add_z(&line, " …");
    if (line.len == 0)
        return;
    cm_buf_add_z(out, ",\"description\":");
    cm_json_write_string(out, cm_buf_str(&line));
}

static void write_signature(const cm_catalog *c, const struct cm_entry *e, struct cm_buf *out)
{
    cm_autobuf text = CM_BUF_INIT(1u << 20);

    if (CM_CATALOG__IS_SNIPPET(c, e)) {
        cm_catalog__write_run(c, e->method, CM_SIGNATURE_BYTES, &text);
    } else {
        struct cm_schema_method m = cm_catalog__schema_method(c->connectors[e->connector], e->method);
        cm_buf_addf(&text, "%s.", cm_catalog__owner(c, e));
        cm_schema_render_signature(&text, &m, CM_SIGNATURE_BYTES);
    }
    cm_buf_add_z(out, ",\"signature\":");
    cm_json_write_string(out, cm_buf_str(&text));
}

static void write_hit(const cm_catalog *c, const struct hit *hit, struct cm_buf *out)
{
    const struct cm_entry *e = &c->entries[hit->entry];
    const struct cm_method *m = &c->sources[e->connector].methods[e->method];
    cm_autofree char *path = cm_catalog__path(c, e);

    cm_buf_add_z(out, "{\"path\":");
    cm_json_write_string(out, cm_str_of(path));
    cm_buf_add_z(out, ",\"connector\":");
    cm_json_write_string(out, cm_str_of(cm_catalog__owner(c, e)));
    cm_buf_add_z(out, ",\"method\":");
    cm_json_write_string(out, cm_str_of(m->name));
    write_description(out, m->description);
    write_signature(c, e, out);
    if (m->flags & CM_METHOD_REQUIRES_APPROVAL)
        cm_buf_add_z(out, ",\"requiresApproval\":true");
    cm_buf_addf(out, ",\"kind\":\"%s\",\"score\":%ld}", CM_CATALOG__IS_SNIPPET(c, e) ? "snippet" : "method",
                lroundf(hit->score));
}

static void write_unavailable(const cm_catalog *c, struct cm_buf *out)
{
    bool any = false;

    for (size_t i = 0; i < c->n_connectors; i++) {
        if (c->sources[i].generation)
            continue;
        cm_buf_add_z(out, any ? ",{\"connector\":" : ",\"unavailable\":[{\"connector\":");
        any = true;
        cm_json_write_string(out, cm_str_of(cm_connector_name(c->connectors[i])));
        cm_buf_add_z(out, ",\"error\":");
        cm_json_write_string(out, cm_str_of(cm_catalog__why_not_ready(c->connectors[i])));
        cm_buf_add_char(out, '}');
    }
    cm_buf_add_z(out, any ? "]" : "");
}

static void write_suggestions(cm_catalog *c, struct cm_str query, struct cm_buf *out)
{
    char *near[SUGGESTIONS_MAX] = {NULL};
    size_t n = cm_catalog__nearest(c, query, near, SUGGESTIONS_MAX);

    for (size_t i = 0; i < n; i++) {
        cm_buf_add_z(out, i ? "," : ",\"suggestions\":[");
        cm_json_write_string(out, cm_str_of(near[i]));
        free(near[i]);
    }
    cm_buf_add_z(out, n ? "]" : "");
}

void cm_catalog_search(cm_catalog *c, struct cm_str query, size_t limit, struct cm_buf *out)
{
    struct query q = {.text = query};

    cm_catalog__refresh(c);
    if (limit == 0 || limit > CM_SEARCH_MAX)
        limit = CM_SEARCH_MAX;
    cut_query(&q);
    cm_autofree struct hit *hits = cm_try_malloc((c->n_entries + 1) * sizeof *hits);
    if (!hits || !weigh(c, &q)) {
        out->failed = true;
        return;
    }
    size_t n = find_hits(c, &q, hits);
    free(q.worth);
    cm_buf_add_z(out, "{\"results\":[");
    for (size_t i = 0; i < n && i < limit; i++) {
        cm_buf_add_z(out, i ? "," : "");
        write_hit(c, &hits[i], out);
    }
    cm_buf_addf(out, "],\"total\":%zu,\"truncated\":%s", n, n > limit ? "true" : "false");
    write_unavailable(c, out);
    if (n == 0)
        write_suggestions(c, query, out);
    cm_buf_add_char(out, '}');
}
