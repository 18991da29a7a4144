#include "base/secrets.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>

#define LABEL_MAX_BYTES 80

_Static_assert(LABEL_MAX_BYTES + sizeof "[secret ]" <= CM_SECRET_MIN_BYTES * 16,
               "a redacted text grows too much");

struct secret {
    char *value; /* one spelling of it */
    size_t len;
    char *label;
};

struct cm_secrets {
    struct secret *items;
    size_t n;
};

cm_secrets *cm_secrets_new(void)
{
    return cm_new(cm_secrets);
}

void cm_secrets_free(cm_secrets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        explicit_bzero(s->items[i].value, s->items[i].len);
        free(s->items[i].value);
        free(s->items[i].label);
    }
    free(s->items);
    free(s);
}

static void add_spelling(cm_secrets *s, struct cm_str value, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (cm_str_eq(value, cm_str_mk(s->items[i].value, s->items[i].len)))
            return;
    s->items = cm_realloc(s->items, (s->n + 1) * sizeof *s->items);
    /* Longest first, so that a secret which contains another is replaced whole. */
    size_t at = s->n;
    while (at > 0 && s->items[at - 1].len < value.len) {
        s->items[at] = s->items[at - 1];
        at--;
    }
    s->items[at] = (struct secret){cm_memdup_z(value.ptr, value.len), value.len, cm_strdup(label)};
    s->n++;
}

/** As JSON writers do: the short escapes; `slash` also "\\/", which PHP's writes. */
static void spell_json(struct cm_buf *b, struct cm_str v, bool slash)
{
    static const char controls[] = "\b\t\n\f\r", letters[] = "btnfr";

    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];
        const char *control = c ? strchr(controls, c) : NULL;
        if (c == '"' || c == '\\' || (slash && c == '/'))
            cm_buf_addf(b, "\\%c", c);
        else if (control)
            cm_buf_addf(b, "\\%c", letters[control - controls]);
        else if (c < 0x20)
            cm_buf_addf(b, "\\u%04X", c);
        else
            cm_buf_add_char(b, (char)c);
    }
}

static void spell_percent(struct cm_buf *b, struct cm_str v, const char *plain)
{
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c && strchr(plain, c)))
            cm_buf_add_char(b, (char)c);
        else
            cm_buf_addf(b, "%%%02X", c);
    }
}

/** The digits that do not depend on what stands before or behind the value. */
static void spell_base64(struct cm_buf *b, struct cm_str v, const char *last_two)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

    for (size_t i = 0; i + 2 < v.len; i += 3) {
        uint32_t w = (uint32_t)(unsigned char)v.ptr[i] << 16 | (uint32_t)(unsigned char)v.ptr[i + 1] << 8 |
                     (unsigned char)v.ptr[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) {
            uint32_t d = w >> shift & 63;
            cm_buf_add_char(b, d < 62 ? digits[d] : last_two[d - 62]);
        }
    }
}

static void add_buf(cm_secrets *s, struct cm_buf *b, const char *label)
{
    if (b->len >= CM_SECRET_MIN_BYTES)
        add_spelling(s, cm_buf_str(b), label);
}

/** Once as a string of a JSON text, and once as a string of a JSON text that is itself a string of one. */
static void add_json(cm_secrets *s, struct cm_str v, const char *label)
{
    for (int slash = 0; slash < 2; slash++) {
        cm_autobuf once = CM_BUF_INIT(v.len * 6 + 8);
        cm_autobuf twice = CM_BUF_INIT(v.len * 12 + 8);
        spell_json(&once, v, slash);
        spell_json(&twice, cm_buf_str(&once), false);
        add_buf(s, &once, label);
        add_buf(s, &twice, label);
    }
}

/** RFC 3986, section 2.3, and what JavaScript's encodeURIComponent leaves besides. */
static void add_percent(cm_secrets *s, struct cm_str v, const char *label)
{
    static const char *const plain[] = {"-._~", "-._~!*'()"};

    for (size_t i = 0; i < CM_ARRAY_LEN(plain); i++) {
        cm_autobuf b = CM_BUF_INIT(v.len * 3 + 8);
        spell_percent(&b, v, plain[i]);
        add_buf(s, &b, label);
    }
}

/** Both alphabets, and each of the three places at which it may begin in what is encoded. */
static void add_base64(cm_secrets *s, struct cm_str v, const char *label)
{
    static const char *const last_two[] = {"+/", "-_"};

    for (size_t i = 0; i < CM_ARRAY_LEN(last_two); i++)
        for (size_t skip = 0; skip < 3; skip++) {
            cm_autobuf b = CM_BUF_INIT(v.len * 2 + 8);
            spell_base64(&b, cm_str_mk(v.ptr + skip, v.len - skip), last_two[i]);
            add_buf(s, &b, label);
        }
}

void cm_secrets_add(cm_secrets *s, struct cm_str value, const char *label)
{
    if (value.len < CM_SECRET_MIN_BYTES)
        return;
    /* Cut, so that what replaces a secret is never longer than the 16-fold that cm_secrets_redact allows for. */
    cm_autofree char *clean = cm_memdup_z(label, cm_utf8_cut(cm_str_of(label), LABEL_MAX_BYTES));
    for (char *p = clean; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f)
            *p = '_';
    add_spelling(s, value, clean);
    add_json(s, value, clean);
    add_percent(s, value, clean);
    add_base64(s, value, clean);
}

bool cm_secrets_occur(const cm_secrets *s, struct cm_str text)
{
    for (size_t i = 0; s && text.len && i < s->n; i++)
        if (memmem(text.ptr, text.len, s->items[i].value, s->items[i].len))
            return true;
    return false;
}

/**
 * The first hit from p on; of two at one place the longest. `next` keeps where each secret comes next, so that
 * a text which repeats one of them is not searched for all the others again and again.
 */
static const struct secret *find_first(const cm_secrets *s, const char **next, const char *p, const char *end,
                                       const char **where)
{
    const struct secret *best = NULL;

    for (size_t i = 0; i < s->n; i++) {
        if (!next[i] || next[i] < p) {
            const char *hit = memmem(p, (size_t)(end - p), s->items[i].value, s->items[i].len);
            next[i] = hit ? hit : end;
        }
        if (next[i] < (best ? *where : end)) {
            best = &s->items[i];
            *where = next[i];
        }
    }
    return best;
}

char *cm_secrets_redact(const cm_secrets *s, struct cm_str text, size_t *len)
{
    const char *where = NULL;
    const char *p = text.ptr;
    const char *end = text.ptr + text.len;

    if (!cm_secrets_occur(s, text))
        return NULL;
    assert(s->items); /* one of them occurs */
    struct cm_buf b = CM_BUF_INIT(text.len * 16 + 256);
    cm_autofree const char **next = cm_calloc(s->n, sizeof *next);
    while (p < end) {
        const struct secret *hit = find_first(s, next, p, end, &where);
        cm_buf_add(&b, p, (size_t)((hit ? where : end) - p));
        if (!hit)
            break;
        cm_buf_addf(&b, "[secret %s]", hit->label);
        p = where + hit->len;
    }
    return cm_buf_take(&b, len);
}
