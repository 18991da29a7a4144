/*
 * Words: names and descriptions cut where people see a word begin, and reduced to stems so that "issues",
 * "issue" and "Issue" or "creates", "creating" and "create" are one. A stem need not be a word; both sides
 * are cut by the same rules.
 */
#include "catalog/internal.h"

#include <ctype.h>

static bool is_word_byte(unsigned char c)
{
    return isalnum(c) || c >= 0x80;
}

static bool ends_with(const char *w, size_t n, const char *end)
{
    size_t k = strlen(end);

    return n > k && memcmp(w + n - k, end, k) == 0;
}

static size_t drop_plural(char *w, size_t n)
{
    static const char *const es[] = {"sses", "xes", "ches", "shes", "zes"};

    if (n > 4 && ends_with(w, n, "ies")) {
        w[n - 3] = 'y';
        return n - 2;
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(es); i++)
        if (ends_with(w, n, es[i]))
            return n - 2;
    bool plural = n > 3 && w[n - 1] == 's' && !ends_with(w, n, "ss") && !ends_with(w, n, "us") &&
                  !ends_with(w, n, "is");
    return plural ? n - 1 : n;
}

static bool is_vowel(char c)
{
    return c != '\0' && strchr("aeiouy", c);
}

static size_t drop_verb_ending(const char *w, size_t n)
{
    size_t cut = n > 5 && ends_with(w, n, "ing")                     ? 3
                 : n > 4 && ends_with(w, n, "ed") && w[n - 3] != 'e' ? 2
                                                                     : 0;

    return n - cut;
}

/* Works in place on lower-case ASCII; other words are left as they are. */
static size_t stem(char *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)w[i] >= 0x80 || isdigit((unsigned char)w[i]))
            return n;
    n = drop_plural(w, n);
    n = drop_verb_ending(w, n);
    if (n > 3 && w[n - 1] == 'e')
        n--;
    /* getting → get; adding and add, calling and call lose one on both sides. */
    if (n >= 3 && w[n - 1] == w[n - 2] && !is_vowel(w[n - 1]))
        n--;
    return n;
}

/* Whether a new word begins at i though no separator stands before it: fooBar, HTTPServer, v2Api. */
static bool begins_word(struct cm_str s, size_t i)
{
    unsigned char here = (unsigned char)s.ptr[i], before = (unsigned char)s.ptr[i - 1];
    bool lower_follows = i + 1 < s.len && islower((unsigned char)s.ptr[i + 1]);

    return isupper(here) && (islower(before) || isdigit(before) || (isupper(before) && lower_follows));
}

size_t cm_words_cut(struct cm_str text, char (*out)[CM_WORD_MAX_BYTES + 1], size_t max)
{
    size_t n = 0, i = 0;

    while (i < text.len && n < max) {
        if (!is_word_byte((unsigned char)text.ptr[i])) {
            i++;
            continue;
        }
        size_t from = i++, len = 0;
        while (i < text.len && is_word_byte((unsigned char)text.ptr[i]) && !begins_word(text, i))
            i++;
        for (size_t k = from; k < i && len < CM_WORD_MAX_BYTES; k++)
            out[n][len++] = (char)tolower((unsigned char)text.ptr[k]);
        len = stem(out[n], len);
        out[n++][len] = '\0';
    }
    return n;
}

/* Stems, sorted. */
static const char *const stops[] = {
    "a",    "al",   "an",   "and", "any",  "are",   "at",    "be",   "by",  "can",
    "do",   "for",  "from", "how", "i",    "in",    "into",  "is",   "it",  "me",
    "my",   "need", "of",   "on",  "or",   "pleas", "som",   "that", "the", "ther",
    "this", "to",   "tool", "use", "want", "what",  "which", "with", "you", "your",
};

bool cm_words_is_stop(const char *word)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(stops); i++)
        if (strcmp(word, stops[i]) == 0)
            return true;
    return false;
}

/* Stems that stand for each other, one row a meaning: abbreviations are nearly the same word, other verbs
 * only a good guess. */
static const struct meaning {
    float worth;
    bool verbs;
    const char *words[9];
} meanings[] = {
    {0.5F, true, {"creat", "ad", "new", "mak", "insert", "open", "register"}},
    {0.5F, true, {"delet", "remov", "destroy", "drop", "eras", "unset"}},
    {0.5F, true, {"get", "fetch", "read", "show", "view", "retriev", "load"}},
    {0.5F, true, {"list", "get", "al", "brows", "enumerat", "index"}},
    {0.5F, true, {"search", "find", "query", "lookup", "filter"}},
    {0.5F, true, {"updat", "edit", "modify", "chang", "patch", "set", "clos"}},
    {0.5F, true, {"send", "post", "submit", "publish"}},
    {0.5F, true, {"stop", "cancel", "abort", "halt", "end"}},
    {0.5F, true, {"start", "run", "launch", "trigger", "execut", "dispatch"}},
    {0.9F, false, {"pr", "pul"}},
    {0.9F, false, {"repository", "repo"}},
    {0.9F, false, {"organization", "org", "organisation"}},
    {0.9F, false, {"directory", "folder", "dir"}},
    {0.5F, false, {"user", "account", "member", "person"}},
    {0.5F, false, {"fil", "document"}},
    {0.5F, false, {"messag", "mail", "email"}},
    {0.5F, false, {"comment", "reply", "not"}},
    {0.5F, false, {"pictur", "imag", "photo"}},
};

static bool has(const struct meaning *m, const char *word)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(m->words) && m->words[i]; i++)
        if (strcmp(m->words[i], word) == 0)
            return true;
    return false;
}

bool cm_words_is_verb(const char *stem)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(meanings); i++)
        if (meanings[i].verbs && has(&meanings[i], stem))
            return true;
    return false;
}

void cm_words_each_synonym(const char *stem, void (*fn)(void *user, const char *other, float worth),
                           void *user)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(meanings); i++) {
        const struct meaning *m = &meanings[i];
        if (!has(m, stem))
            continue;
        for (size_t k = 0; k < CM_ARRAY_LEN(m->words) && m->words[k]; k++)
            if (strcmp(m->words[k], stem) != 0)
                fn(user, m->words[k], m->worth);
    }
}
